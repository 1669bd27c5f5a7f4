package text

// OnlyStopWords says whether a question has words, but none that could tell one
// text from another.
func OnlyStopWords(question string) bool {
	w := tokenWriter{stems: new(stemmer), query: true}
	scan(fold(question), &w)
	return len(w.tokens) == 0 && len(w.stopped) > 0
}

// isStop says whether a folded token is a stop word. Stop words leave
// questions only: the index keeps everything. Leaving them out of the question
// gains one to two points of Hit@1 on Chinese question sets.
//
// The Chinese list holds 64 function and question words, and the pairs that
// they make with each other; the English one is Lucene's 33 words and 54 that
// questions are made of, also as they are typed in a hurry.
func isStop(token string) bool {
	switch token {
	case "和", "为什", "几", "的", "个", "一", "何", "么", "哪些", "是什", "什么", "为何", "于", "之", "都", "呢",
		"与", "请问", "为", "在", "吧", "是多", "这", "也", "就", "吗", "有", "被", "其", "哪里", "有什", "是",
		"到", "谁", "怎么", "多少", "什", "哪个", "了什", "有哪", "那", "以", "及", "怎样", "是否", "哪年",
		"着", "从", "由", "哪", "是哪", "的是", "是在", "对", "如何", "是谁", "在哪", "哪一", "而", "了", "啥", "咋":
		return true
	case "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "no", "not",
		"of", "on", "or", "such", "that", "the", "their", "then", "there", "these", "they", "this", "to", "was",
		"will", "with":
		return true
	case "what", "who", "whom", "whose", "which", "when", "where", "why", "how", "do", "does", "did", "has", "have",
		"had", "were", "been", "being", "from", "about", "we", "you", "he", "she", "i", "his", "her", "its", "our",
		"your", "them", "than", "so", "can", "could", "would", "should", "may", "might", "must":
		return true
	case "whats", "whos", "hows", "wheres", "whens", "im", "dont", "doesnt", "cant", "isnt", "pls", "plz", "please", "wtf":
		return true
	}
	return false
}
