/**
 * What areas record beside visits: requests for a short link, for a pixel. Rows of the same columns, apart in segments of their
 * own kind: they open and extend no visit, and no metric of the site counts them.
 */
export const RECORD_KINDS = ["clicks", "opens"] as const
export type RecordKind = (typeof RECORD_KINDS)[number]
