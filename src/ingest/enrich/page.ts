import { COLLECT } from "../../domain/limits.ts"
import { SECRET_PARAMETERS } from "../../domain/secret-parameter.ts"
import { cutBytes, visible } from "../request/text.ts"
import type { WebAddress } from "../request/web-address.ts"

const ESCAPES = /(?:%[0-9a-f]{2})+/gi
const CONTROL = /\p{Cc}/u

/**
 * The page of an event (metrics.md 6.1): the decoded path, of the query the allowed parameters in the order of their
 * list, and with `hash` the fragment. Two spellings of one address give one page.
 */
export function pageOf(address: WebAddress, { allowed, hash }: { allowed: readonly string[]; hash: boolean }): string {
  const page = decoded(address.path) + keptQuery(address.query, allowed) + (hash ? keptFragment(address.fragment, allowed) : "")
  return cutBytes(page, COLLECT.pageBytes).trimEnd() || "/"
}

/** The path alone, as `pageOf` has it. */
function decoded(path: string): string {
  return visible(path.includes("%") ? path.replace(ESCAPES, decodeRun) : path).trimEnd()
}

function keptQuery(query: string, allowed: readonly string[]): string {
  if (query === "" || allowed.length === 0) return ""
  const sent = new URLSearchParams(query)
  const kept = allowed.filter((name) => sent.has(name) && !SECRET_PARAMETERS.has(name.toLowerCase()))
  return kept.length === 0 ? "" : `?${kept.map((name) => `${escaped(name)}=${escaped(sent.get(name) ?? "")}`).join("&")}`
}

const escaped = (text: string): string => visible(text).replace(/[%&+#=]/g, encodeURIComponent)

/** A fragment may hold a query of its own, and sign-in services put tokens there: the same rules as for the query. */
function keptFragment(fragment: string, allowed: readonly string[]): string {
  const at = fragment.indexOf("?")
  const path = at < 0 ? fragment : fragment.slice(0, at)
  const kept =
    [...new URLSearchParams(path).keys()].some((name) => SECRET_PARAMETERS.has(name.toLowerCase())) && path.includes("=") ? "" : path
  const shown = decoded(kept) + (at < 0 ? "" : keptQuery(fragment.slice(at + 1), allowed))
  return shown === "" ? "" : `#${shown}`
}

/** A run of escapes as text. What would change the meaning of the path, cannot be seen or is no UTF-8 stays as it was sent. */
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
