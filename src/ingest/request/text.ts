import { normalizeUnicode } from "../../domain/text.ts"

/** Printable ASCII, which nearly all texts are, needs no normalization. */
const PLAIN = /^[ -~]*$/
/** Printable ASCII with single spaces between words only. */
const TIDY = /^(?:[!-~]+(?: [!-~]+)*)?$/
const INVISIBLE = /[\p{Cc}\p{Bidi_Control}]/gu
/** Placeholders of other products for a missing value. */
const MISSING = new Set(["(none)", "(not set)", "(direct)", "(not provided)"])
const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** Returns whether a text can be stored unchanged: no NUL and no unpaired surrogate. */
export const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes("\0")

/** Returns the text without control and bidirectional-control characters, in Unicode normal form C. */
export const visible = (text: string): string => (PLAIN.test(text) ? text : normalizeUnicode(text.toWellFormed().replace(INVISIBLE, "")))

/** Returns the text as one line: trimmed, runs of white space replaced by one space, cut to a number of characters. */
export function oneLine(text: string, characters: number): string {
  const line = TIDY.test(text) ? text : visible(text.replace(/\s+/g, " ").trim())
  return cutCharacters(line, characters).trimEnd()
}

/** Returns a campaign tag or similar value as one line. Placeholders of other products for a missing value become "". */
export function tagValue(text: string, characters: number): string {
  return withoutMissing(oneLine(text, characters))
}

/** Returns the text, or "" for a placeholder of other products for a missing value. */
export const withoutMissing = (text: string): string => (text.startsWith("(") && MISSING.has(text.toLowerCase()) ? "" : text)

/** Cuts a text to at most `max` characters. A character outside the basic plane counts as one. */
export function cutCharacters(text: string, max: number): string {
  if (text.length <= max) return text
  // Twice as many code units contain at least `max` characters, so the rest of a long text is never read.
  const characters = [...text.slice(0, max * 2)]
  return characters.length <= max ? text.slice(0, max * 2).toWellFormed() : characters.slice(0, max).join("")
}

/** Returns whether a text has more than `max` characters. */
export const exceedsCharacters = (text: string, max: number): boolean => text.length > max && cutCharacters(text, max).length < text.length

/** Returns the length in bytes of UTF-8. */
export const byteLength = (text: string): number => Buffer.byteLength(text)

/** Cuts a text to at most `max` bytes of UTF-8 without splitting a character. */
export function cutBytes(text: string, max: number): string {
  if (text.length * 3 <= max || byteLength(text) <= max) return text
  const bytes = encoder.encode(text)
  let end = max
  // Bytes of the form 10xxxxxx continue a character.
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--
  return decoder.decode(bytes.subarray(0, end))
}
