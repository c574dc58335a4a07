import { AppError, refuseFaults } from "../domain/error.ts"
import { API } from "../domain/limits.ts"
import { fault, isObject, parseEmptyBody } from "../domain/shape.ts"
import { readWithin } from "../services/runtime/files.ts"

const UTF8 = new TextDecoder("utf-8", { fatal: true })

/**
 * Reads the body of a request with at most `limit` bytes. Throws `body_too_large`. Bun's own limit is much higher, because its 413
 * response has no body.
 */
export function readBytes(request: Request, limit: number): Promise<Uint8Array> {
  const length = request.headers.get("content-length")
  if (Number(length) > limit) return Promise.reject(tooLarge(limit))
  // With Content-Length the server reads no more than that. Chunked bodies are counted here.
  if (length !== null || request.body === null) return request.bytes()
  return readChunks(request.body, limit)
}

async function readChunks(body: ReadableStream<Uint8Array>, limit: number): Promise<Uint8Array> {
  const bytes = await readWithin(body, limit)
  if (!bytes) throw tooLarge(limit)
  return bytes
}

/** Parser of a request body. The content type has no parameters and is in lower case. */
export type Read = (request: Request, contentType: string | undefined) => Promise<unknown>

/** Creates a reader of JSON bodies, which returns null without a body. Checks size, media type and syntax, in this documented order. */
export const readJson =
  (limit: number, depth?: number): Read =>
  async (request, contentType) => {
    if (request.body === null) return null
    return (await readJsonAsSent(limit, depth)(request, contentType)).value
  }

/** Skips the body. The handler can still read it. */
export const leaveUnread: Read = async () => null

/** Reads the body of a route without a body: nothing or an empty object. Throws `validation_failed` for fields. */
export const readNothing: Read = async (request, contentType) => {
  const bytes = request.body === null ? new Uint8Array() : await readBytes(request, API.privateBodyBytes)
  if (bytes.length === 0) return null
  refuseOtherTypes(request.method, contentType)
  parseEmptyBody(parseJson(bytes))
  return null
}

/** Media types that browsers send for forms without a preflight. */
const FORMS = ["application/x-www-form-urlencoded", "text/plain", "multipart/form-data"]

/** Throws `unsupported_media_type` for forms, so that foreign pages cannot trigger writes with a form. Applies to unread bodies, too. */
export const refusingForms =
  (read: Read): Read =>
  async (request, contentType) => {
    if (request.body !== null && contentType !== undefined && FORMS.includes(contentType)) throw otherType()
    return read(request, contentType)
  }

/** Parsed body with its raw bytes. */
export interface SentJson {
  value: unknown
  bytes: Uint8Array
}

/** Creates a reader of required JSON bodies, which also returns the raw bytes. */
export const readJsonAsSent =
  (limit: number, depth?: number): ((request: Request, contentType: string | undefined) => Promise<SentJson>) =>
  async (request, contentType) => {
    if (request.body === null) throw new AppError("invalid_json", "The body is missing.")
    const bytes = await readBytes(request, limit)
    refuseOtherTypes(request.method, contentType)
    return { value: parseJson(bytes, depth), bytes }
  }

/** Creates a reader of optional JSON bodies. A missing body is an empty object. */
export const readOptionalJson = (limit: number): Read => {
  const read = readJsonAsSent(limit)
  return async (request, contentType) => {
    const isMissing = request.body === null || request.headers.get("content-length") === "0"
    return isMissing ? ({ value: {}, bytes: new Uint8Array() } satisfies SentJson) : read(request, contentType)
  }
}

/**
 * Creates a reader of lists in JSON or with one item per line: lines become `{[name]: items}`, empty lines are skipped. Reads at most
 * one item more than `maximum`, so that longer lists are rejected for their length without parsing the rest.
 */
export const readJsonOrLines = (limit: number, name: string, maximum: number): Read => {
  const asJson = readJson(limit)
  return async (request, contentType) => {
    if (request.body === null || contentType !== "application/x-ndjson") return cutList(await asJson(request, contentType), name, maximum)
    const lines = textOf(await readBytes(request, limit)).split("\n")
    const items = lines.filter((line) => line.trim() !== "").slice(0, maximum + 1)
    return { [name]: items.map((line) => parseText(line)) }
  }
}

function cutList(body: unknown, name: string, maximum: number): unknown {
  const list = isObject(body) ? body[name] : undefined
  return Array.isArray(list) && list.length > maximum ? { ...(body as object), [name]: list.slice(0, maximum + 1) } : body
}

function refuseOtherTypes(method: string, type: string | undefined): void {
  const isJson = type === "application/json" || (method === "PATCH" && type === "application/merge-patch+json")
  if (!isJson) throw otherType()
}

const otherType = () => new AppError("unsupported_media_type", "Send the body as application/json.")

/** Parses JSON. Throws `invalid_json` if it is not UTF-8, not JSON or nested too deeply. */
export const parseJson = (bytes: Uint8Array, depth?: number): unknown => parseText(textOf(bytes), depth)

function textOf(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes)
  } catch {
    throw new AppError("invalid_json", "The body is not valid UTF-8.")
  }
}

function parseText(text: string, depth: number = API.jsonDepth): unknown {
  const value = jsonOf(text)
  if (!nestsWithin(value, depth)) throw new AppError("invalid_json", `The body is nested deeper than ${depth} levels.`)
  return value
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new AppError("invalid_json", "The body is not valid JSON.")
  }
}

/** Returns whether nesting is within the depth. Stops there, so that hostile nesting cannot exhaust the stack. */
const nestsWithin = (value: unknown, levels: number): boolean =>
  !isNested(value) || (levels > 0 && (Array.isArray(value) ? value : Object.values(value)).every((inner) => nestsWithin(inner, levels - 1)))

const isNested = (value: unknown): value is object => typeof value === "object" && value !== null

const tooLarge = (limit: number) => new AppError("body_too_large", `The body can have at most ${limit} bytes.`, { limit_bytes: limit })

/** Returns a parsed body that must be an object, whose members are checked later. Throws `validation_failed`. */
export function objectBody(body: unknown): Record<string, unknown> {
  if (!isObject(body)) refuseFaults([fault("", "invalid_type", "must be an object")])
  return body as Record<string, unknown>
}
