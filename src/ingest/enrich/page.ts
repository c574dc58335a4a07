import { COLLECT } from "../../domain/limits.ts"
import { SECRET_PARAMETERS } from "../../domain/secret-parameter.ts"
import { cutBytes, visible } from "../request/text.ts"
import type { WebAddress } from "../request/web-address.ts"

const ESCAPES = /(?:%[0-9a-f]{2})+/gi
const CONTROL = /\p{Cc}/u

/**
 * Returns the page of an event (metrics.md 6.1): the decoded path, the allowed query parameters in the order of the site's list, and
 * the fragment if `hash` is set. Different spellings of one address give the same page.
 */
export function pageOf(address: WebAddress, { allowed, hash }: { allowed: readonly string[]; hash: boolean }): string {
  const page = decoded(address.path) + allowedQuery(address.query, allowed) + (hash ? allowedFragment(address.fragment, allowed) : "")
  return cutBytes(page, COLLECT.pageBytes).trimEnd() || "/"
}

/** Returns a path decoded and without invisible characters. */
function decoded(path: string): string {
  return visible(path.includes("%") ? path.replace(ESCAPES, decodeRun) : path).trimEnd()
}

function allowedQuery(query: string, allowed: readonly string[]): string {
  if (query === "" || allowed.length === 0) return ""
  const sent = new URLSearchParams(query)
  const names = allowed.filter((name) => sent.has(name) && !SECRET_PARAMETERS.has(name.toLowerCase()))
  return names.length === 0 ? "" : `?${names.map((name) => `${escaped(name)}=${escaped(sent.get(name) ?? "")}`).join("&")}`
}

const escaped = (text: string): string => visible(text).replace(/[%&+#=]/g, encodeURIComponent)

/** Returns a fragment by the rules of the query: it can contain a query string, and sign-in services put tokens into it. */
function allowedFragment(fragment: string, allowed: readonly string[]): string {
  const at = fragment.indexOf("?")
  const path = at < 0 ? fragment : fragment.slice(0, at)
  const hasSecret = path.includes("=") && [...new URLSearchParams(path).keys()].some((name) => SECRET_PARAMETERS.has(name.toLowerCase()))
  const text = decoded(hasSecret ? "" : path) + (at < 0 ? "" : allowedQuery(fragment.slice(at + 1), allowed))
  return text === "" ? "" : `#${text}`
}

/**
 * Decodes a run of percent escapes. Escapes of delimiters, which would change the meaning of the path, of control characters and of
 * invalid UTF-8 stay as they were sent.
 */
function decodeRun(run: string): string {
  let text = ""
  for (let at = 0; at < run.length; ) {
    const length = sequenceLength(byteAt(run, at)) * 3
    const character = decodeSequence(run.slice(at, at + length), length)
    text += character ?? run.slice(at, at + 3)
    at += character === undefined ? 3 : length
  }
  return text
}

const byteAt = (run: string, at: number): number => Number.parseInt(run.slice(at + 1, at + 3), 16)
const sequenceLength = (first: number): number => (first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4)

function decodeSequence(sequence: string, length: number): string | undefined {
  if (sequence.length < length) return undefined
  try {
    const character = decodeURIComponent(sequence)
    return "/?#%".includes(character) || CONTROL.test(character) ? undefined : character
  } catch {
    return undefined
  }
}
