import { AppError } from "./error.ts"

/**
 * Returns an opaque cursor for the page after an id. The cursor contains the name of its list, so that it is not valid for any
 * other list.
 */
export const cursorAfter = (list: string, id: number): string => Buffer.from(`${list}:${id}`).toString("base64url")

/** Returns the id after which a page begins. Throws `invalid_cursor` for an unreadable cursor and for one of another list. */
export function readCursor(list: string, cursor: string): number {
  const id = Number(
    Buffer.from(cursor, "base64url")
      .toString()
      .slice(list.length + 1),
  )
  // Decoding is lenient, so the id is encoded again: only an identical text is a cursor of this list.
  if (Number.isSafeInteger(id) && id > 0 && cursorAfter(list, id) === cursor) return id
  throw new AppError("invalid_cursor", "The cursor is unreadable or belongs to another list. Start again without a cursor.")
}
