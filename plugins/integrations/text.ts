/** A message in the fixed form of all chat services. Its texts are plain: each service escapes them in its own way. */
export interface ChatMessage {
  title: string
  /** The value of a list has one line per row. */
  facts: readonly { label: string; value: string }[]
  /** Page of the dashboard. Absent if there is none. */
  link?: string
}

export const MAX_TEXT_CHARS = 200

/** Returns a text without control, bidirectional and zero-width characters, on one line, and cut at 200 characters. */
export function plain(value: unknown): string {
  const text = String(value)
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, " ")
    .replaceAll(/\s+/g, " ")
    .trim()
  const characters = [...text]
  return characters.length > MAX_TEXT_CHARS ? `${characters.slice(0, MAX_TEXT_CHARS - 1).join("")}…` : text
}
