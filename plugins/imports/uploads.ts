import { createReadStream } from "node:fs"
import { type FileHandle, open } from "node:fs/promises"
import { type Static, Type as t } from "@sinclair/typebox"
import { AppError, inspect, instantText, refuseFaults, type Site } from "#plugin"
import type { ImportsHost } from "./area.ts"
import { importError } from "./errors.ts"
import type { UploadResponse } from "./responses.ts"
import {
  deleteUpload,
  expiredUploads,
  insertUpload,
  liveUploadsOf,
  setReceived,
  type UploadRow,
  uploadById,
  uploadsOfSite,
} from "./rows.ts"
import type { Staging } from "./staging.ts"

/** Staged uploads: files that are too large for one request, sent in chunks. */
export interface Uploads {
  create(site: Site, userId: number, body: unknown): Promise<UploadResponse>
  /** Appends a chunk from a stream, which is never in memory as a whole. Returns the bytes that have arrived. */
  append(upload: UploadRow, chunk: { offset: number; body: ReadableStream<Uint8Array> | null }): Promise<number>
  remove(upload: UploadRow): Promise<void>
  /** Throws `upload_not_found`. An upload belongs to its user and site. */
  get(site: Site, userId: number | null, id: string | undefined): Promise<UploadRow>
  /** Returns complete uploads whose content has the announced hash. Throws `upload_incomplete` or `checksum_mismatch`. */
  complete(site: Site, userId: number | null, ids: readonly string[]): Promise<UploadRow[]>
  /** Deletes expired uploads. */
  expire(): Promise<void>
  removeSite(siteId: number): Promise<number>
}

export const CHUNK_BYTES = 8 << 20
const MAX_UPLOADS = 5
const KEPT_MS = 24 * 3_600_000

export const UploadInput = t.Object(
  {
    name: t.String({ minLength: 1, maxLength: 255, description: "Name of the file." }),
    bytes: t.Integer({ minimum: 1, description: "Size of the file." }),
    sha256: t.Optional(t.String({ pattern: "^[0-9a-f]{64}$", description: "SHA-256 of the file in hex." })),
  },
  { additionalProperties: false, title: "ImportUploadInput" },
)

export function createUploads({ db, now, random, settings }: ImportsHost, staging: Staging): Uploads {
  /** Uploads that receive a chunk. Two chunks of one file at once would overwrite each other's end. */
  const receiving = new Set<string>()
  const remove = async (upload: UploadRow): Promise<void> => {
    await staging.removeUpload(upload.path)
    await deleteUpload(db, upload.id)
  }
  const get: Uploads["get"] = async (site, userId, id) => {
    const row = await uploadById(db, id ?? "")
    if (row && row.site_id === site.id && row.user_id === userId && row.expires_at > now()) return row
    throw importError("upload_not_found", "You have no upload with this id on this site. Uploads are kept for 24 hours.")
  }
  return {
    get,
    remove,
    async create(site, userId, body) {
      const { fields, faults } = inspect(UploadInput, body)
      refuseFaults(faults)
      const { name, bytes, sha256 = null } = fields as Static<typeof UploadInput> // without faults
      if (bytes > settings.max_bytes)
        throw new AppError("body_too_large", `An import file can have at most ${settings.max_bytes} bytes.`, {
          limit_bytes: settings.max_bytes,
        })
      const path = staging.newUploadPath()
      const id = Buffer.from(random(16)).toString("hex")
      const row: UploadRow = { id, site_id: site.id, user_id: userId, name, path, bytes, received: 0, sha256, expires_at: now() + KEPT_MS }
      await db.transaction(async (statements) => {
        if ((await liveUploadsOf(statements, userId, now())).length >= MAX_UPLOADS)
          throw new AppError("limit_reached", `You can have ${MAX_UPLOADS} uploads at a time. Import or delete one of them first.`, {
            limit: MAX_UPLOADS,
          })
        await insertUpload(statements, row)
      })
      await (await open(path, "w", 0o600)).close()
      return { upload_id: id, chunk_bytes: CHUNK_BYTES, received: 0, expires_at: instantText(row.expires_at) }
    },
    async append(upload, { offset, body }) {
      // The row may be older than a chunk that has just arrived.
      const { received, bytes, path, id } = (await uploadById(db, upload.id)) ?? upload
      if (offset > received || receiving.has(id))
        throw importError("upload_gap", `${received} bytes have arrived. Continue there.`, { received })
      receiving.add(id)
      try {
        const end = body === null ? offset : await writeChunk(path, offset, body, Math.min(CHUNK_BYTES, bytes - offset))
        const total = Math.max(received, end)
        if (total > received) await setReceived(db, id, total)
        return total
      } finally {
        receiving.delete(id)
      }
    },
    async complete(site, userId, ids) {
      const uploads: UploadRow[] = []
      for (const id of ids) {
        const upload = await get(site, userId, id)
        const { received, bytes, sha256, name } = upload
        if (received < bytes)
          throw importError("upload_incomplete", `${received} of ${bytes} bytes of ${name} have arrived. Send the rest.`, { received })
        if (sha256 !== null && (await hashOf(upload.path)) !== sha256)
          throw importError("checksum_mismatch", `${name} does not have the announced SHA-256. Delete the upload and send the file again.`)
        uploads.push(upload)
      }
      return uploads
    },
    async expire() {
      for (;;) {
        const rows = await expiredUploads(db, now())
        for (const row of rows) await remove(row)
        if (rows.length === 0) return
      }
    },
    async removeSite(siteId) {
      let count = 0
      for (;;) {
        const rows = await uploadsOfSite(db, siteId)
        for (const row of rows) await remove(row)
        count += rows.length
        if (rows.length === 0) return count
      }
    },
  }
}

/** Writes a chunk at its offset. Returns the offset of its end. A chunk of more than `limit` bytes is refused, what was written of it is not counted. */
async function writeChunk(path: string, offset: number, body: ReadableStream<Uint8Array>, limit: number): Promise<number> {
  let file: FileHandle | undefined
  try {
    file = await open(path, "r+")
    let at = offset
    for await (const piece of body) {
      if (at + piece.length - offset > limit)
        throw new AppError("body_too_large", `A chunk can have at most ${limit} bytes here.`, { limit_bytes: limit })
      await file.write(piece, 0, piece.length, at)
      at += piece.length
    }
    return at
  } finally {
    await file?.close()
  }
}

async function hashOf(path: string): Promise<string> {
  const hasher = new Bun.CryptoHasher("sha256")
  for await (const piece of createReadStream(path, { highWaterMark: 1 << 20 })) hasher.update(piece as Buffer) // a stream without encoding
  return hasher.digest("hex")
}
