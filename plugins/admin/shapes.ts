import { type TSchema, Type as t } from "@sinclair/typebox"
import { etagOf, Instant, orNull, type Versioned } from "#plugin"

export const Id = t.Integer({ minimum: 1 })

/** What would go. */
export const PreviewShown = t.Object(
  {
    at: Instant,
    cutoff: orNull(t.String()),
    by: t.Array(t.Object({ site_id: Id, kind: t.String(), cutoff: t.String(), rows: t.Integer(), events: t.Integer(), days: t.Integer() })),
    plugins: t.Array(t.Object({ id: t.String(), rows: t.Integer() })),
    bytes: t.Integer(),
  },
  { title: "InstanceRetentionPreview" },
)

/** Says the version of what is answered. */
export function tagged<Shown>({ headers }: { headers: Record<string, unknown> }, thing: Versioned, shown: Shown): Shown {
  headers.etag = etagOf(thing)
  return shown
}

export const says = (summary: string, takes?: TSchema) => ({
  summary,
  tags: ["admin"],
  ...(takes && { requestBody: { required: true, content: { "application/json": { schema: takes } } } }),
})

/** Response header of a downloaded file. */
export const fileHeaders = (type: string, name: string): Record<string, string> => ({
  "content-type": type,
  "content-disposition": `attachment; filename="${name}"`,
  "content-security-policy": "default-src 'none'; sandbox",
})

/** The runtime sends whatever an iterator yields; the type of a body does not know it. */
export const streamed = (parts: AsyncIterable<Uint8Array>): BodyInit => parts as unknown as BodyInit
