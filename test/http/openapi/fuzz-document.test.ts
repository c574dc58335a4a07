import { afterAll, beforeAll, expect, test } from "bun:test"
import fc from "fast-check"
import type { OpenApiDocument } from "../../../src/http/openapi/document.ts"
import { bySize, SEED } from "../../size.ts"
import { openTarget, type Target } from "../target.ts"
import { answerChecker, type Declared, DOCUMENT_PATH, operationsIn } from "./document.ts"
import { type FuzzCall, fuzzCalls, idOf } from "./fuzz-calls.ts"

/**
 * Calls of all operations, generated from the document: valid, mutated, and wild.
 */
const CALLS = bySize({ check: 4_500, full: 12_000, release: 240_000 })

let target: Target
/** Id of the first API key of the site. The keys of the target came before, and are for all sites. */
let firstKey = 1
beforeAll(async () => {
  target = await openTarget({ api_rate_limit: "1000000" })
  const headers = { authorization: `Bearer ${target.keys.all}`, "content-type": "application/json" }
  await target.signIn({ role: "viewer" })
  await target.signIn({ role: "viewer" })
  for (const path of ["/pricing", "/", "/thanks"])
    await fetch(`${target.url}/api/event`, {
      method: "POST",
      headers: target.browser,
      body: JSON.stringify({ n: "pageview", u: `https://shop.example${path}` }),
    })
  for (const [things, body] of [
    ["goals", { kind: "event", value: "signup" }],
    [
      "funnels",
      {
        name: "Signup",
        steps: [
          { type: "page", value: "/" },
          { type: "event", value: "signup" },
        ],
      },
    ],
    ["annotations", { at: "2026-11-20", text: "Launch" }],
    ["segments", { name: "Germany", filters: [{ dimension: "country", values: ["DE"] }] }],
    ["shares", { name: "Partners" }],
    ["api-keys", { name: "Server", scopes: ["keys:read"] }],
    ["people/erasures", { user_id: "customer-1", confirm: true }],
  ] as const) {
    const made = await fetch(`${target.url}/api/public/v1/sites/1/${things}`, { method: "POST", headers, body: JSON.stringify(body) })
    if (things === "api-keys") firstKey = ((await made.json()) as { id: number }).id
  }
})
afterAll(() => target.close())

const isWhole = ({ name }: Declared): boolean => name === "putConfiguration"

const COOKIE = "sid=zzcookiezz"

async function answerOf({ method, path, headers, body }: FuzzCall) {
  const answer = await fetch(target.url + path, {
    method,
    headers: { cookie: COOKIE, ...headers, authorization: `Bearer ${target.keys.all}` },
    ...(body !== undefined && { body }),
    redirect: "manual",
  })
  const text = await answer.text()
  const isJson = /^application\/([a-z]+\+)?json/.test(answer.headers.get("content-type") ?? "")
  return { status: answer.status, headers: answer.headers, text, body: isJson ? (JSON.parse(text) as unknown) : text }
}

/** Rules beyond the document: an error does not echo secrets or reveal internals, and carries the request id. */
function faultsOfError({ status, headers, text, body }: Awaited<ReturnType<typeof answerOf>>): string[] {
  if (status < 400 || headers.get("content-type") === "application/json") return []
  const { request_id, code } = body as { request_id?: string; code?: string }
  return [
    ...(headers.get("content-type") === "application/problem+json" ? [] : ["no problem+json"]),
    ...(request_id === headers.get("x-request-id") ? [] : ["another request id than in the header"]),
    ...(text.includes(target.keys.all) || text.includes(COOKIE) ? ["a secret is echoed"] : []),
    ...(/\bselect\b.*\bfrom\b|\bat .*\.ts:\d+|\/src\//i.test(text) ? ["insides are told"] : []),
    ...(code ? [] : ["no code"]),
  ]
}

test(
  "every response to any request is one that the document declares",
  async () => {
    const document = (await (await fetch(target.url + DOCUMENT_PATH)).json()) as OpenApiDocument
    // A new site recognizes visitors for one day, and the example of retention follows them over two.
    const operations = operationsIn(document).map((operation) => {
      if (operation.name !== "getRetention") return operation
      const { "application/json": body } = operation.bodies
      return { ...operation, bodies: { "application/json": { ...body!, example: { ...(body!.example as object), periods: 1 } } } }
    })
    const faultsOf = answerChecker(document)
    const seen = new Map<string, Set<string>>(operations.map(({ name }) => [name, new Set()]))
    const terms = { idOf: (operation: Declared, id: string) => idOf(operation, id, id === "api_key_id" ? firstKey : 1) }
    const fuzz = (some: readonly Declared[], numRuns: number) =>
      fc.assert(
        fc.asyncProperty(fuzzCalls(document, some, terms), async (call) => {
          const answer = await answerOf(call)
          seen.get(call.operation.name)!.add(answer.status < 400 ? "good" : "refused")
          const faults = [...faultsOf(call.operation, answer), ...faultsOfError(answer), ...(answer.status >= 500 ? ["it failed"] : [])]
          if (faults.length > 0) throw new Error(`${answer.status} ${faults.join("; ")}\n${answer.text.slice(0, 500)}`)
        }),
        { seed: SEED, numRuns },
      )
    // A configuration deletes what it does not name, so that no call of the others would find anything.
    const [whole, others] = [operations.filter(isWhole), operations.filter((operation) => !isWhole(operation))]
    await fuzz(others, CALLS)
    await fuzz(whole, CALLS / 50)
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
    // The calls are neither too valid nor too broken: nearly every operation accepts some and rejects some, in a full run every one.
    const oneSided = [...seen].filter(([, kinds]) => kinds.size < 2).map(([name]) => name)
    expect(oneSided.length).toBeLessThanOrEqual(bySize({ check: 3, full: 0, release: 0 }))
  },
  60_000 + CALLS * 20,
)
