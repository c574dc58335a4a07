import { AppError } from "../domain/error.ts"
import { API } from "../domain/limits.ts"
import { isObject } from "../domain/shape.ts"
import { readWithin } from "../services/bounded-read.ts"

const UTF8 = new TextDecoder("utf-8", { fatal: true })

/**
 * The body of a request, never more than `limit` bytes of it in memory. Bun's own limit answers 413 with an empty body, so
 * it is only the outer wall.
 */
export function readBytes(request: Request, limit: number): Promise<Uint8Array> {
  const length = request.headers.get("content-length")
  if (Number(length) > limit) return Promise.reject(tooLarge(limit))
  // With a length the server reads no more than that. Without one (chunked) we count.
  if (length !== null || request.body === null) return request.bytes()
  return readChunks(request.body, limit)
}

async function readChunks(body: ReadableStream<Uint8Array>, limit: number): Promise<Uint8Array> {
  const bytes = await readWithin(body, limit)
  if (!bytes) throw tooLarge(limit)
  return bytes
}

/** Turns the body of a request into a value. The content type is without parameters and in lower case. */
export type Read = (request: Request, contentType: string | undefined) => Promise<unknown>

/** Null when there is no body; nested as deep as bodies may be unless something else is said. In the order that callers can observe: size, media type, syntax. */
export const readJson =
  (limit: number, depth?: number): Read =>
  async (request, contentType) => {
    if (request.body === null) return null
    return (await readJsonAsSent(limit, depth)(request, contentType)).value
  }

/** Of a route that takes no body. */
export const leaveUnread: Read = async () => null

/** What browsers send for a form, without asking first. */
const FORMS = ["application/x-www-form-urlencoded", "text/plain", "multipart/form-data"]

/** Also of a body that nobody reads: a page of somebody else's must not get anything done by a form. */
export const refusingForms =
  (read: Read): Read =>
  async (request, contentType) => {
    if (request.body !== null && contentType !== undefined && FORMS.includes(contentType)) throw otherType()
    return read(request, contentType)
  }

/** A body with the bytes it came as. */
export interface SentJson {
  value: unknown
  bytes: Uint8Array
}

/** The same, for a body that must be there, with its bytes. */
export const readJsonAsSent =
  (limit: number, depth?: number): ((request: Request, contentType: string | undefined) => Promise<SentJson>) =>
  async (request, contentType) => {
    if (request.body === null) throw new AppError("invalid_json", "The body is missing")
    const bytes = await readBytes(request, limit)
    refuseOtherTypes(request.method, contentType)
    return { value: parseJson(bytes, depth), bytes }
  }

/** The same for a body that may be left out: nothing at all is an empty object. */
export const readOptionalJson = (limit: number): Read => {
  const read = readJsonAsSent(limit)
  return async (request, contentType) => {
    const isLeftOut = request.body === null || request.headers.get("content-length") === "0"
    return isLeftOut ? ({ value: {}, bytes: new Uint8Array() } satisfies SentJson) : read(request, contentType)
  }
}

/**
 * The same for a list that may also come one item per line: lines become `{[name]: items}`, empty ones are skipped. Of a
 * list with more than `most` items one more is handed on, so that it is refused for its length and nobody looks at the rest.
 */
export const readJsonOrLines = (limit: number, name: string, most: number): Read => {
  const asJson = readJson(limit)
  return async (request, contentType) => {
    if (request.body === null || contentType !== "application/x-ndjson") return cutList(await asJson(request, contentType), name, most)
    const lines = textOf(await readBytes(request, limit)).split("\n")
    const items = lines.filter((line) => line.trim() !== "").slice(0, most + 1)
    return { [name]: items.map((line) => parseText(line)) }
  }
}

function cutList(body: unknown, name: string, most: number): unknown {
  const list = isObject(body) ? body[name] : undefined
  return Array.isArray(list) && list.length > most ? { ...(body as object), [name]: list.slice(0, most + 1) } : body
}

function refuseOtherTypes(method: string, type: string | undefined): void {
  const isJson = type === "application/json" || (method === "PATCH" && type === "application/merge-patch+json")
  if (!isJson) throw otherType()
}

const otherType = () => new AppError("unsupported_media_type", "Send the body as application/json")

/** Throws `invalid_json` for what is no UTF-8, no JSON, or nested too deep. */
export const parseJson = (bytes: Uint8Array, depth?: number): unknown => parseText(textOf(bytes), depth)

function textOf(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes)
  } catch {
    throw new AppError("invalid_json", "The body is not UTF-8")
  }
}

function parseText(text: string, depth: number = API.jsonDepth): unknown {
  const value = jsonOf(text)
  if (!nestsWithin(value, depth)) throw new AppError("invalid_json", `The body is nested deeper than ${depth} levels`)
  return value
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new AppError("invalid_json", "The body is not valid JSON")
  }
}

/** Goes no deeper than asked, so hostile nesting cannot exhaust the stack here. */
const nestsWithin = (value: unknown, levels: number): boolean =>
  !isNested(value) || (levels > 0 && (Array.isArray(value) ? value : Object.values(value)).every((inner) => nestsWithin(inner, levels - 1)))

const isNested = (value: unknown): value is object => typeof value === "object" && value !== null

const tooLarge = (limit: number) => new AppError("body_too_large", `The body may have ${limit} bytes`, { limit_bytes: limit })
