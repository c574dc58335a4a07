/** Files on their way to the server: small ones travel with each request, large ones are uploaded once, in chunks. */
import { Problem, post, put, remove, send } from "#plugin/ui"
import type { UploadResponse } from "../responses.ts"
import { importsPath } from "./answers.ts"

/** Files that together are larger than this are uploaded before the preview. */
export const SMALL_BYTES = 4 * 1_048_576

/** A file that was uploaded, or is being uploaded. */
export interface Upload extends UploadResponse {
  name: string
  bytes: number
  /** Time of the last change of the file, by which it is recognized after a reload. */
  changed: number
}

/** The files of an import. `key` changes with every choice. */
export type Input =
  | { key: string; files: readonly File[] }
  | { key: string; uploads: readonly Upload[] }
  /** Data that the server fetches, by its name. */
  | { key: string; fetched: string }

export const namesOf = (input: Input): string[] =>
  "fetched" in input ? [input.fetched] : ("files" in input ? input.files : input.uploads).map(({ name }) => name)
export const bytesOf = (files: readonly { size: number }[]): number => files.reduce((sum, { size }) => sum + size, 0)

let last = 0
/** Returns a key for a new choice of files. */
export const newKey = (): string => {
  last += 1
  return `${Date.now()}-${last}`
}

interface Fields {
  source?: string | undefined
  options: Readonly<Record<string, unknown>>
  preview_hash?: string
  label?: string
  force?: boolean
}

/** Sends files and options to a route of the imports. */
export async function sendInput<Answer>(path: string, input: Input, fields: Fields, signal?: AbortSignal): Promise<Answer> {
  const sending = { ...(signal && { signal }) }
  if ("fetched" in input) return post<Answer>(path, fields, sending)
  if ("uploads" in input) return post<Answer>(path, { ...fields, upload_ids: input.uploads.map(({ upload_id }) => upload_id) }, sending)
  const form = new FormData()
  for (const [name, value] of Object.entries(fields))
    if (value !== undefined) form.append(name, typeof value === "string" ? value : JSON.stringify(value))
  for (const file of input.files) form.append("files", file, file.name)
  // A response writes the form as multipart. The type of a blob is in lower case, which would change the boundary.
  const written = new Response(form)
  const headers = { "content-type": written.headers.get("content-type")! } // a form has one
  return send<Answer>(path, { method: "POST", body: await written.blob(), headers, ...sending })
}

const [FIRST_WAIT_MS, MAX_WAIT_MS] = [1_000, 30_000]

interface Watched {
  signal: AbortSignal
  /** Called after each chunk. */
  onReceived(upload: Upload): void
  /** Called when the server can't be reached, with the time until the next attempt. */
  onWait(ms: number): void
}

export async function beginUpload(siteId: number, file: File): Promise<Upload> {
  const { name, size: bytes, lastModified: changed } = file
  return { ...(await post<UploadResponse>(`${importsPath(siteId)}/uploads`, { name, bytes })), name, bytes, changed }
}

/** Sends the missing chunks of a file. Waits and continues if the server can't be reached; throws any other problem. */
export async function continueUpload(siteId: number, upload: Upload, file: File, { signal, onReceived, onWait }: Watched): Promise<Upload> {
  const path = `${importsPath(siteId)}/uploads/${upload.upload_id}`
  let received = upload.received
  for (let wait = FIRST_WAIT_MS; received < file.size; ) {
    signal.throwIfAborted()
    try {
      const chunk = file.slice(received, received + upload.chunk_bytes)
      const headers = { "content-type": "application/octet-stream" }
      received = (await put<{ received: number }>(`${path}?offset=${received}`, chunk, { headers, signal })).received
      wait = FIRST_WAIT_MS
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      if (error.code === "upload_gap")
        received = error.members.received as number // the code has this member
      else if (error.code !== "offline" && error.status !== 503 && error.status !== 429) throw error
      else {
        onWait(wait)
        await new Promise((resolve) => setTimeout(resolve, wait))
        wait = Math.min(MAX_WAIT_MS, 2 * wait)
      }
    }
    onReceived({ ...upload, received })
  }
  return { ...upload, received }
}

export const isComplete = ({ bytes, received }: Upload): boolean => received >= bytes
/** Returns whether a file is the one whose upload was interrupted. */
export const isSameFile = (upload: Upload, file: File): boolean =>
  upload.name === file.name && upload.bytes === file.size && upload.changed === file.lastModified

/** An import whose upload began before the page was reloaded. */
export interface SavedUploads {
  source: string
  uploads: readonly Upload[]
}

/** Time for which the server keeps uploads. Measured by the clock of the browser, which may differ from that of the server. */
const KEPT_MS = 24 * 3_600_000

const keyOf = (siteId: number): string => `footfall:imports:${siteId}`

/** Remembers uploads of a site in this browser, or forgets them if there are none. */
export function saveUploads(siteId: number, saved: SavedUploads | undefined, at = Date.now()): void {
  try {
    if (saved) localStorage.setItem(keyOf(siteId), JSON.stringify({ ...saved, at }))
    else localStorage.removeItem(keyOf(siteId))
  } catch {
    // Without storage, an upload can't be continued after a reload.
  }
}

/** Returns the remembered uploads, unless the server has deleted them. */
export function savedUploads(siteId: number, now = Date.now()): SavedUploads | undefined {
  try {
    const saved = JSON.parse(localStorage.getItem(keyOf(siteId)) ?? "null") as (SavedUploads & { at: number }) | null
    return saved?.uploads.length && now < saved.at + KEPT_MS ? saved : undefined
  } catch {
    return undefined
  }
}

/** Deletes uploads from the server and forgets them. Uploads that fail to be deleted expire by themselves. */
export async function discardUploads(siteId: number, uploads: readonly Upload[]): Promise<void> {
  saveUploads(siteId, undefined)
  await Promise.allSettled(uploads.map(({ upload_id }) => remove(`${importsPath(siteId)}/uploads/${upload_id}`)))
}
