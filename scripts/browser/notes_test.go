package browser

// The notes of the tests: little enough to know every answer.
const (
	travel = `# Travel policy

## Hotels

A hotel in Shanghai may cost 500 yuan a night. Elsewhere the limit is 400 yuan a night.

A stay above the limit needs two approvals: the team lead and the vice president.

## Flights

Flights are booked in economy class, fourteen days ahead.
`
	courses = `# 新人课程

## 课程安排

建议每天学习 45 分钟，每周复习一次。课程共 12 节，每节配有练习。

## 考核

考核在第 8 周进行，满分 100 分，60 分及格。
`
)

// hostile is a note that wants to be HTML and to be fetched from elsewhere.
const hostile = `# Widgets <script>document.title = 'taken'</script>

## Use <img src="http://example.invalid/h.png">

The blue widget costs 12 coins. <img src=x onerror="document.title = 'taken'"> ![picture](http://example.invalid/p.png) <b>bold</b> [home](javascript:document.title='taken')
`

func someNotes() map[string]string {
	return map[string]string{"travel.md": travel, "courses.md": courses}
}
