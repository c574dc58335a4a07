import { composed } from "../domain/text.ts"

/** Printable ASCII needs none of the care below, and nearly all texts are. */
const PLAIN = /^[ -~]*$/
/** The same, with single blanks between words alone. */
const TIDY = /^(?:[!-~]+(?: [!-~]+)*)?$/
const INVISIBLE = /[\p{Cc}\p{Bidi_Control}]/gu
/** What other products write where they have no value. */
const MISSING = new Set(["(none)", "(not set)", "(direct)", "(not provided)"])
const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** False for texts that no store keeps as they are: with NUL or half a surrogate pair. */
export const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes("\0")

/** The text without control and bidirectional-control characters, in Unicode normal form C. */
export const visible = (text: string): string => (PLAIN.test(text) ? text : composed(text.toWellFormed().replace(INVISIBLE, "")))

/** One line: white space at the ends removed, runs of it one blank, cut at that many characters. */
export function oneLine(text: string, characters: number): string {
  const line = TIDY.test(text) ? text : visible(text.replace(/\s+/g, " ").trim())
  return cutCharacters(line, characters).trimEnd()
}

/** A campaign tag or its like: one line, and the words other products write for "no value" are no value. */
export function tagValue(text: string, characters: number): string {
  return withoutMissing(oneLine(text, characters))
}

/** "" for the words other products write where they have no value. */
export const withoutMissing = (text: string): string => (text.startsWith("(") && MISSING.has(text.toLowerCase()) ? "" : text)

/** At most that many characters; a character outside the basic plane counts as one. */
export function cutCharacters(text: string, most: number): string {
  if (text.length <= most) return text
  // Twice as many units hold at least `most` characters, so the rest of a long text is never looked at.
  const characters = [...text.slice(0, most * 2)]
  return characters.length <= most ? text.slice(0, most * 2).toWellFormed() : characters.slice(0, most).join("")
}

/** Whether a text has more than that many characters. */
export const exceedsCharacters = (text: string, most: number): boolean =>
  text.length > most && cutCharacters(text, most).length < text.length

/** Length in UTF-8. */
export const byteLength = (text: string): number => Buffer.byteLength(text)

/** At most that many bytes of UTF-8, never half a character. */
export function cutBytes(text: string, most: number): string {
  if (text.length * 3 <= most || byteLength(text) <= most) return text
  const bytes = encoder.encode(text)
  let end = most
  // Bytes 10xxxxxx continue a character that began before.
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--
  return decoder.decode(bytes.subarray(0, end))
}
