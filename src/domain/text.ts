// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const CONTROL = /[\u0000-\u001f\u007f]/

// Control and format characters, line separators, variation selectors and tags: what changes or hides text without being seen.
const HIDDEN = /[\u034f\p{Cc}\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu

/** Without characters that are not seen: texts of visitors must not pass for something else. */
export const visibleText = (text: string): string => text.replace(HIDDEN, "")

/** More marks on one letter than any writing has; Unicode's own limit for texts that are read as they come (UAX 15). */
const OVERLOADED = /\p{M}{31}/u

/**
 * In the one Unicode form that compares well. That form has the marks of a letter in order, which takes the square of their
 * number: a minute for a body full of them. What has so many on one letter is no writing, and stays as it is.
 */
export const composed = (text: string): string => (OVERLOADED.test(text) ? text : text.normalize("NFC"))

/** As every text of a body is kept: trimmed and composed. */
export const tidied = (text: string): string => composed(text.trim())

/** Without control characters and halves of characters, so that any store, log and screen can hold it. */
export const isClean = (text: string): boolean => !CONTROL.test(text) && text.isWellFormed()

/** Length as people count: an emoji is one character. */
export const characters = (text: string): number => [...text].length

export const cutTo = (text: string, length: number): string =>
  characters(text) <= length ? text : [...text].slice(0, length).join("").trimEnd()

/** Equal for texts that differ by case alone. */
export const caseKey = (text: string): string => composed(text.toLowerCase())
