/** Letters without an accent that Unicode could take away. */
const LETTERS: Readonly<Record<string, string>> = { æ: "ae", đ: "d", ð: "d", ı: "i", ł: "l", ø: "o", œ: "oe", ß: "ss", þ: "th", ə: "a" }

/** Returns a name of a region without accents, case and punctuation: exports and lists write them differently. */
export const plainName = (name: string): string =>
  name
    .slice(0, 100)
    .normalize("NFD")
    .toLowerCase()
    .replace(/\p{M}|['’‘ʻʼ`]/gu, "")
    .replace(/[^a-z\d]/g, (letter) => LETTERS[letter] ?? " ")
    .replace(/ +/g, " ")
    .trim()
