import fc from "fast-check"
import type { OpenApiDocument } from "../../../src/http/openapi/document.ts"
import { strangeText, strangeValue } from "../../strange.ts"
import type { Declared, DeclaredParameter } from "./document.ts"
import { valuesOf } from "./schema-values.ts"

/** A request to send. */
export interface FuzzCall {
  operation: Declared
  /** How far the request deviates from the document. */
  kind: "valid" | "mutated" | "wild"
  method: string
  path: string
  headers: Record<string, string>
  body: string | Uint8Array<ArrayBuffer> | undefined
}

/** Knowledge about valid requests that is not in the document. */
export interface FuzzTerms {
  /** Ids that may exist. */
  idOf(operation: Declared, id: string): fc.Arbitrary<string>
  exampleOf(operation: Declared): unknown
}

/** Generates calls of all operations in three equal parts: valid according to the document, mutated, and wild. */
export function fuzzCalls(
  document: OpenApiDocument,
  operations: readonly Declared[],
  chosen: Partial<FuzzTerms> = {},
): fc.Arbitrary<FuzzCall> {
  const values = valuesOf(document)
  const terms: FuzzTerms = { idOf, exampleOf: ({ bodies }) => bodies["application/json"]?.example, ...chosen }
  const calls = fc.constantFrom(...operations).chain((operation) => {
    const valid = validCalls(operation, values, terms)
    return fc.oneof(
      { weight: 2, arbitrary: valid },
      { weight: 2, arbitrary: valid.chain(mutated) },
      { weight: 1, arbitrary: valid.chain(wild) },
    )
  })
  return calls.map((call) => ({ ...call, [fc.toStringMethod]: () => shown(call) }))
}

const shown = ({ kind, method, path, headers, body }: FuzzCall): string => `${kind} ${method} ${path} ${JSON.stringify(headers)} ${body}`

/** Parts of a call that can be mutated independently. */
interface Parts {
  operation: Declared
  ids: Record<string, string>
  query: [name: string, text: string][]
  headers: Record<string, string>
  body: unknown
}

type Values = ReturnType<typeof valuesOf>

function validCalls(operation: Declared, values: Values, terms: FuzzTerms): fc.Arbitrary<FuzzCall> {
  return validParts(operation, values, terms).map((parts) => assembled(parts, "valid"))
}

function validParts(operation: Declared, values: Values, terms: FuzzTerms): fc.Arbitrary<Parts> {
  const of = (place: DeclaredParameter["in"]) => operation.parameters.filter((parameter) => parameter.in === place)
  const ids = fc.record(Object.fromEntries(operation.ids.map((id) => [id, terms.idOf(operation, id)])))
  const requiredIn = (place: DeclaredParameter["in"]) => of(place).flatMap(({ name, required }) => (required ? [name] : []))
  const record = (place: "query" | "header") =>
    fc.record(Object.fromEntries(of(place).map((parameter) => [parameter.name, textOf(parameter, values)])), {
      requiredKeys: requiredIn(place),
    }) as fc.Arbitrary<Record<string, string>>
  const body = operation.bodies["application/json"]
  return fc
    .record({
      ids,
      query: sparse(record("query"), requiredIn("query")),
      headers: sparse(record("header"), requiredIn("header")),
      // Few random queries are valid, so the example is included.
      body: body
        ? fc.oneof({ weight: 3, arbitrary: values(body.schema) }, { weight: 1, arbitrary: fc.constant(terms.exampleOf(operation)) })
        : fc.constant(undefined),
    })
    .map(({ query, ...parts }) => ({ ...parts, operation, query: Object.entries(query) }))
}

/** The first resource of each kind is never deleted, because most calls use it. `first` is its id. */
export function idOf({ method, ids }: Declared, id: string, first = 1): fc.Arbitrary<string> {
  const isDeleted = method === "DELETE" && id === ids.at(-1)
  return (isDeleted ? fc.integer({ min: 2, max: 12 }) : fc.constantFrom(1, 1, 1, 1, 2, 3, 999)).map((nth) => String(first + nth - 1))
}

/** Keeps only a few parameters, because random values of many always contradict each other. */
const sparse = (all: fc.Arbitrary<Record<string, string>>, required: readonly string[]) =>
  fc
    .tuple(all, fc.infiniteStream(fc.nat(3)))
    .map(([record, dice]) =>
      Object.fromEntries(Object.entries(record).filter(([name]) => required.includes(name) || dice.next().value === 0)),
    )

const textOf = ({ name, schema, form }: DeclaredParameter, values: Values): fc.Arbitrary<string> =>
  values(schema, name).map((value) => (form === "json" ? JSON.stringify(value) : Array.isArray(value) ? value.join(",") : String(value)))

function assembled({ operation, ids, query, headers, body }: Parts, kind: FuzzCall["kind"]): FuzzCall {
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, id: string) => ids[id]!)
  const search = query.map(([name, text]) => `${encoded(name)}=${encoded(text)}`).join("&")
  const sent = body === undefined ? undefined : JSON.stringify(body)
  return {
    operation,
    kind,
    method: operation.method,
    path: search === "" ? path : `${path}?${search}`,
    headers: { ...headers, ...(sent !== undefined && { "content-type": "application/json" }) },
    body: sent,
  }
}

/** A lone surrogate cannot be percent-encoded, so it is replaced by U+FFFD. */
const encoded = (text: string): string => encodeURIComponent(text.toWellFormed())

/** Makes one to three changes that violate the document. */
const mutated = (call: FuzzCall): fc.Arbitrary<FuzzCall> =>
  fc
    .array(MUTATIONS(call), { minLength: 1, maxLength: 3 })
    .map((changes) => changes.reduce<FuzzCall>((changed, change) => change(changed), { ...call, kind: "mutated" as const }))

type Change = (call: FuzzCall) => FuzzCall

const MUTATIONS = (call: FuzzCall): fc.Arbitrary<Change> =>
  fc.oneof(
    fc.tuple(fc.constantFrom(...parameterNames(call)), strangeText).map(([name, text]): Change => withQuery(name, text)),
    strangeText.map((name): Change => withQuery(name, "1")),
    fc
      .tuple(
        fc.constantFrom(
          "if-match",
          "if-none-match",
          "idempotency-key",
          "accept",
          "content-type",
          "x-request-id",
          "mcp-protocol-version",
          "origin",
          "cookie",
        ),
        headerText,
      )
      .map(
        ([name, text]): Change =>
          (changed) => ({ ...changed, headers: { ...changed.headers, [name]: text } }),
      ),
    fc
      .tuple(fc.nat(200), strangeValue, fc.constantFrom("replace", "remove", "add"))
      .map(([at, value, how]): Change => withBody(at, value, how)),
    fc
      .constantFrom("0", "01", "-1", "1e3", "abc", "99999999999999999999", "%00", "1%2f2", "__proto__", "1;2", "%ff")
      .map((id): Change => withId(id)),
  )

const parameterNames = ({ operation }: FuzzCall): string[] => [
  "q",
  ...operation.parameters.filter((parameter) => parameter.in === "query").map(({ name }) => name),
]

/** Characters that the client library can send. */
const headerText = fc.string({ unit: fc.constantFrom(..."abcXYZ019 \"'*,;=/+-_~{}[]<>!ä"), maxLength: 30 }).map((text) => text.trim())

const withQuery =
  (name: string, text: string): Change =>
  (call) => ({ ...call, path: `${call.path}${call.path.includes("?") ? "&" : "?"}${encoded(name)}=${encoded(text)}` })

const withId =
  (id: string): Change =>
  (call) => ({ ...call, path: call.path.replace(/\/\d+(?=[/?]|$)/, `/${id}`) })

/** Changes the value at the nth position of the body. */
const withBody =
  (at: number, value: unknown, how: string): Change =>
  (call) => {
    if (typeof call.body !== "string") return call
    const body = parsed(call.body)
    const places = placesIn(body)
    const place = places[at % Math.max(places.length, 1)]
    if (!place) return { ...call, body: JSON.stringify(value) }
    const { holder, key } = place
    if (how === "remove") Reflect.deleteProperty(holder, key)
    else if (how === "add") holder[`odd${at}`] = value
    else holder[key] = value
    return { ...call, body: JSON.stringify(body) }
  }

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function placesIn(value: unknown): { holder: Record<string, unknown>; key: string }[] {
  if (typeof value !== "object" || value === null) return []
  const holder = value as Record<string, unknown>
  return Object.keys(holder).flatMap((key) => [{ holder, key }, ...placesIn(holder[key])])
}

/** Keeps only the path of the operation. */
const wild = (call: FuzzCall): fc.Arbitrary<FuzzCall> =>
  fc
    .record({
      search: fc.oneof(
        fc
          .array(fc.tuple(strangeText, strangeText), { maxLength: 4 })
          .map((pairs) => pairs.map(([name, text]) => `${encoded(name)}=${encoded(text)}`).join("&")),
        fc.string({ unit: fc.constantFrom(..."abc=&%+;[]{}.0/?"), maxLength: 40 }),
      ),
      body: fc.oneof(
        strangeValue.map((value) => JSON.stringify(value)),
        fc.uint8Array({ maxLength: 200 }) as fc.Arbitrary<Uint8Array<ArrayBuffer>>,
        fc.string({ unit: fc.constantFrom(...'{}[]",:0123456789truefalsn\\u '), maxLength: 80 }),
      ),
      type: fc.constantFrom(
        "application/json",
        "application/json",
        "application/json; charset=utf-8",
        "text/plain",
        "application/merge-patch+json",
        "application/x-ndjson",
        "multipart/form-data; boundary=x",
        "",
      ),
    })
    .map(({ search, body, type }) => ({
      ...call,
      kind: "wild" as const,
      path: `${call.path.split("?")[0]}?${search}`,
      ...(call.body !== undefined && { body }),
      headers: { ...call.headers, ...(call.body !== undefined && { "content-type": type }) },
    }))
