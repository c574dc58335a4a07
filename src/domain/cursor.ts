import { AppError } from "./error.ts"

/**
 * The place in a list where the next page begins, as text that callers hand back and do not look into. It names its list, so
 * that it is good for no other one.
 */
export const cursorAfter = (list: string, id: number): string => Buffer.from(`${list}:${id}`).toString("base64url")

/** The id behind which a page begins. Throws `invalid_cursor` for what is none, or one of another list. */
export function readCursor(list: string, cursor: string): number {
  const id = Number(
    Buffer.from(cursor, "base64url")
      .toString()
      .slice(list.length + 1),
  )
  // Decoding is lenient; only what encodes to the same text is a cursor of this list.
  if (Number.isSafeInteger(id) && id > 0 && cursorAfter(list, id) === cursor) return id
  throw new AppError("invalid_cursor", "The cursor is unreadable or belongs to another list.")
}
