package answer

import (
	"strings"

	"kb/pkg/text/gse"
)

// nameLike says whether what a claim has at i in place of theirs looks like a
// name, or a number in Han characters. A Latin name with a capital is looked
// for by [names]; here it is one in lower case that no English word can begin
// like (nginx). A Chinese one is
//
//	a surname with one or two characters, in place of another  李敏 for 陈静
//	a character behind a surname that makes no word with it    高鹏 for 高翔
//	before a word for a kind of place                          大安区 for 信义区
//	a city, province or country, in place of another           重庆 for 成都
//
// Words that are none of these are left to the overlap, since a model may
// write 客户信息 for 客户资料, or "retained" for "kept".
func nameLike(claim []unit, i int, mine, theirs []unit) bool {
	if !mine[0].han {
		return len(mine) == 1 && !englishOnset(mine[0].s)
	}
	if numerals(mine) && numerals(theirs) {
		return true
	}
	a, b := joinUnits(mine), joinUnits(theirs)
	switch {
	case len(mine) == 1 && len(theirs) == 1:
		return i > 0 && isSurname(claim[i-1].s) && !isWord(claim[i-1].s+a)
	case personal(mine) && personal(theirs), isPlace(a) && isPlace(b):
		return true
	}
	behind := i + len(mine)
	return behind < len(claim) && strings.Contains("区市省县州路街镇村岛港", claim[behind].s)
}

func numerals(span []unit) bool {
	for _, u := range span {
		if !strings.Contains("零一二三四五六七八九十百千万两几日天", u.s) {
			return false
		}
	}
	return true
}

func personal(span []unit) bool {
	return (len(span) == 2 || len(span) == 3) && isSurname(span[0].s)
}

// isSurname knows the hundred most frequent surnames of China (Ministry of
// Public Security, 2020) and some more.
func isSurname(s string) bool {
	return strings.Contains("王李张刘陈杨黄赵吴周徐孙马朱胡郭何林高罗郑梁谢宋唐许邓冯韩曹曾彭萧肖蔡潘田董袁于余叶蒋杜苏魏程吕丁沈任姚卢傅钟姜崔谭廖范汪陆金石戴贾韦夏邱方侯邹熊孟秦白江阎薛尹段雷黎史龙陶贺顾毛郝龚邵万钱严覃武洪欧施莫孔向汤常温康樊葛殷翟颜庄柯倪", s)
}

// isWord says whether a run of Han characters is one word of the dictionary.
func isWord(run string) bool {
	var c gse.Cutter
	return len(c.Cut(run)) == 1
}

func isPlace(s string) bool {
	return strings.Contains(places, " "+s+" ")
}

const places = ` 北京 天津 上海 重庆 河北 山西 辽宁 吉林 黑龙江 江苏 浙江 安徽 福建 江西 山东 河南 湖北 湖南 广东 海南 四川 贵州 云南 陕西 甘肃 青海 台湾 内蒙古 广西 西藏 宁夏 新疆 香港 澳门 ` +
	`广州 深圳 成都 杭州 武汉 西安 苏州 南京 长沙 郑州 东莞 青岛 沈阳 宁波 昆明 合肥 佛山 无锡 厦门 大连 济南 哈尔滨 福州 温州 泉州 南宁 长春 石家庄 南昌 贵阳 太原 兰州 珠海 海口 台北 高雄 台中 台南 新竹 ` +
	`中国 美国 英国 法国 德国 日本 韩国 印度 俄罗斯 加拿大 澳大利亚 新加坡 意大利 西班牙 巴西 泰国 越南 马来西亚 东京 大阪 首尔 伦敦 巴黎 柏林 纽约 悉尼 `

// englishOnset says whether an English word can begin as a word does: with a
// vowel, one consonant, or a cluster that English has.
func englishOnset(word string) bool {
	n := strings.IndexAny(word, "aeiouy")
	switch {
	case n < 0:
		return len(word) < 3 // an abbreviation
	case n < 2 || strings.ContainsFunc(word[:n], func(r rune) bool { return r < 'a' || r > 'z' }):
		return true
	}
	return strings.Contains(" bl br ch chl chr cl cr dr dw fl fr gh gl gn gr kh kl kn kr mn ph phl phr pl pn pr ps rh sc sch schl schm schn schw scl scr sh shr sk sl sm sn sp sph spl spr sq st str sw th thr thw tr ts tw vl wh wr ", " "+word[:n]+" ")
}
