import { Type as t } from "@sinclair/typebox"
import { leaveUnread, NoQuery, readNothing, Sent, type Site } from "#plugin"
import { type Area, failures, operation, requestBody } from "./area.ts"
import { ReceivedResponse, UploadResponse } from "./responses.ts"
import { UploadInput } from "./uploads.ts"

const WRITE = "imports:write"
/** Documents the body of a chunk. */
const RAW_BODY = {
  requestBody: { required: true, content: { "application/octet-stream": { schema: { type: "string", format: "binary" } } } },
}

/** Uploads in chunks, for files that are too large for one request. */
export function uploadRoutes({ host, uploads }: Area) {
  const find = async ({ upload }: Record<string, string | undefined>, { site, user }: { site?: Site; user?: { id: number } }) =>
    void (await uploads.get(site!, user!.id, upload)) // below a site, for a signed-in user
  return host
    .siteRouter()
    .post(
      "/imports/uploads",
      async ({ site, user, body, set, status }) => {
        const upload = await uploads.create(site, user.id, body.value)
        set.headers.location = `/api/private/sites/${site.id}/imports/uploads/${upload.upload_id}`
        return status(201, upload)
      },
      {
        can: WRITE,
        query: NoQuery,
        body: Sent,
        response: { 201: UploadResponse },
        detail: operation("Begin an upload", { ...requestBody(UploadInput), ...failures("limit_reached") }),
      },
    )
    .put(
      "/imports/uploads/:upload",
      async ({ site, user, params, query, request }) => {
        const upload = await uploads.get(site, user.id, params.upload)
        return { received: await uploads.append(upload, { offset: query.offset, body: request.body }) }
      },
      {
        can: { permission: WRITE, find, read: leaveUnread },
        query: t.Object(
          { offset: t.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: "Position of the chunk in the file." }) },
          { additionalProperties: false },
        ),
        response: { 200: ReceivedResponse },
        detail: operation("Send a chunk of an upload as raw bytes", { ...RAW_BODY, ...failures("upload_gap") }),
      },
    )
    .delete(
      "/imports/uploads/:upload",
      async ({ site, user, params, status }) => {
        await uploads.remove(await uploads.get(site, user.id, params.upload))
        return status(204, undefined)
      },
      { can: { permission: WRITE, find, read: readNothing }, query: NoQuery, detail: operation("Delete an upload") },
    )
}
