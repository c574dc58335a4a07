// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches control characters on purpose.
const CONTROL = /[\u0000-\u001f\u007f]/

// Invisible characters that change or hide text: control and format characters, line separators, tags.
const HIDDEN = /[\u034f\p{Cc}\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu

/** Removes invisible characters, so that a text sent by a visitor cannot imitate another one. */
export const visibleText = (text: string): string => text.replace(HIDDEN, "")

/** More combining marks on one letter than any script uses; the limit is that of Unicode's stream-safe text format (UAX 15). */
const OVERLOADED = /\p{M}{31}/u

/**
 * Normalizes a text to Unicode form NFC, so that equal texts compare as equal. Sorting the marks of a letter takes quadratic time:
 * a minute for a body full of them. A text with too many marks on one letter is therefore returned unchanged.
 */
export const normalizeUnicode = (text: string): string => (OVERLOADED.test(text) ? text : text.normalize("NFC"))

/** Trims a text and normalizes it to NFC. Every text of a request body is stored in this form. */
export const normalizeText = (text: string): string => normalizeUnicode(text.trim())

/** Returns whether a text has no control characters and no lone surrogates, so that any store, log and screen can hold it. */
export const isClean = (text: string): boolean => !CONTROL.test(text) && text.isWellFormed()

/** Quotes a text so that a POSIX shell reads it as one literal word. */
export const shellQuoted = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)

/** Returns the length of a text in code points: an emoji is one character. */
export const countCharacters = (text: string): number => [...text].length

/** Truncates a text to a number of characters. */
export const truncate = (text: string, length: number): string =>
  countCharacters(text) <= length ? text : [...text].slice(0, length).join("").trimEnd()

/** Returns a key that is equal for texts that differ only in case. */
export const caseKey = (text: string): string => normalizeUnicode(text.toLowerCase())

/** Compares two texts by code point: in the order of UTF-16 units, with surrogates after all other units. */
export function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const [one, other] = [a.charCodeAt(i), b.charCodeAt(i)]
    if (one !== other) return place(one) - place(other)
  }
  return a.length - b.length
}

function place(unit: number): number {
  if (unit < 0xd800) return unit
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800
}
