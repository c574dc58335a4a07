import { type TUnsafe, Type as t } from "@sinclair/typebox"
import { readBytes, readJsonAsSent, type SentJson } from "#plugin"

/** A body in JSON, or the bytes of a CSV file, which are then in `csv` as well. */
export type SentTable = SentJson & { csv?: Uint8Array }
/** Unvalidated body that can be a CSV file. */
export const SentTable = t.Any() as unknown as TUnsafe<SentTable>

/** Creates a reader of bodies in JSON or CSV. */
export const readJsonOrCsv = (limit: number) => {
  const asJson = readJsonAsSent(limit)
  return async (request: Request, contentType: string | undefined): Promise<SentTable> => {
    if (contentType !== "text/csv") return asJson(request, contentType)
    const csv = await readBytes(request, limit)
    return { value: undefined, bytes: csv, csv }
  }
}
