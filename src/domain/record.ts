/**
 * The kinds of records that areas store in addition to visits: requests for a short link, requests for a pixel. They have the
 * same columns as visits, but are stored in segments of their own. No visit and no metric of the site includes them.
 */
export const RECORD_KINDS = ["clicks", "opens"] as const
export type RecordKind = (typeof RECORD_KINDS)[number]

/** The property, with the value `1`, of records whose visitor sends Do Not Track or GPC. They have no individual visitor and no location. */
export const ANONYMOUS = "anonymous"
