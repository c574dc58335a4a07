import { AppError } from "#plugin"

const UPLOAD_BYTES = 190 << 20

/** What is sent as a backup: the archive itself, or the one file of a form. */
export async function archiveOf(request: Request): Promise<AsyncIterable<Uint8Array>> {
  const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase()
  if (Number(request.headers.get("content-length")) > UPLOAD_BYTES)
    throw new AppError("body_too_large", `An upload can have at most ${UPLOAD_BYTES} bytes. Copy larger backups into the data folder.`, {
      limit_bytes: UPLOAD_BYTES,
    })
  if (type === "application/x-tar" && request.body) return request.body as unknown as AsyncIterable<Uint8Array> // a stream can be iterated
  if (type !== "multipart/form-data")
    throw new AppError("unsupported_media_type", "Send the archive as application/x-tar, or as the field file of a form.")
  const form = await request.formData().catch(() => undefined)
  const file = form?.get("file")
  if (!(file instanceof Blob))
    throw new AppError("validation_failed", "1 field is not valid.", {
      errors: [{ pointer: "/file", code: "required", detail: "is required." }],
    })
  return file.stream() as unknown as AsyncIterable<Uint8Array> // the same
}
