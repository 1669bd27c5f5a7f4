package text

import (
	"strings"
	"testing"
)

func TestContentTerms(t *testing.T) {
	for question, want := range map[string]string{
		"高危漏洞几天内要修好？":                       "高 危 高危 漏 危漏 洞 漏洞 内 要 内要 修 要修 好 修好",
		"電子發票什麼時候上傳？":                       "电 子 电子 发 子发 票 发票 上 传 上传",
		"How many shops were affected?":     "shop affect",
		"How long do we keep parseHTTPHead": "keep parsehttphead pars parsehttp http httphead head",
		"多少":                                "多 少", // of nothing else than stop words, as QueryTerms has it
		"how many":                          "mani",
		"pay-1207咋整":                        "pay-1207 pay1207 pay 1207",
		"tell me about the boiler":          "boiler",
		"讲讲成都":                              "成 成都",
		"do we still use datadog, pls":      "datadog",
		"rotate_keys 怎么用":                   "rotate_keys rotatekey rotat key 用",
	} {
		if got := strings.Join(ContentTerms(NewNGram(), question), " "); got != want {
			t.Errorf("%q: %q, want %q", question, got, want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for question, want := range map[string]string{
		"In 2077, or 2078?":                 "2077 2078",
		"the rent of 2077.":                 "2077",
		"7 or 3.14 or 10,000 on 2024-05-01": "",
		"2077年v12":                          "2077",
	} {
		if got := strings.Join(Numbers(question), " "); got != want {
			t.Errorf("%q: %q, want %q", question, got, want)
		}
	}
}

func TestNames(t *testing.T) {
	for question, want := range map[string]string{
		"How do I configure Kubernetes autoscaling for sheaf-api?": "Kubernetes",
		"Who won the football World Cup in 1998?":                  "World Cup",
		"Does it work? Then why not with Redis on a Friday":        "Redis",
		"What does ERR-5230 mean, and v2.12.0?":                    "ERR-5230 v2.12.0",
		"rotate_tokens 函数有哪些参数？":                                   "rotate_tokens",
		"MongoDB 分片集群怎么扩容，用 redis 吗？":                              "MongoDB redis",
		"Where Is The Head Office Of Acme":                         "", // a title
		"can I expense 350 or 3.5 in a follow-up":                  "",
		"what is an HTTPHeader and a parseHead":                    "HTTPHeader parseHead",
		"食べる Tokyo":                                                "Tokyo",
		"":                                                         "",
	} {
		if got := strings.Join(Names(question), " "); got != want {
			t.Errorf("%q: %q, want %q", question, got, want)
		}
	}
}
