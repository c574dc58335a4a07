/**
 * The API's own description, as tests use it: its operations with all references resolved, and a check that reports every
 * deviation of a response from what is declared.
 */
import Ajv2020 from "ajv/dist/2020"
import addFormats from "ajv-formats"
import type { OpenApiDocument, Operation } from "../../../src/http/openapi/document.ts"
import type { Gate } from "../../../src/web/router.ts"
import type { Answer } from "../../kit.ts"

export const DOCUMENT_PATH = "/api/public/v1/openapi.json"
export const PRIVATE_DOCUMENT_PATH = "/api/private/openapi.json"

export interface Declared {
  name: string
  method: string
  /** With the names of its ids: `/api/public/v1/sites/{site_id}`. */
  path: string
  ids: readonly string[]
  scopes: readonly string[]
  needsUnrestricted: boolean
  /** Only in the private API. */
  permission: string
  gate: Gate
  parameters: readonly DeclaredParameter[]
  /** Accepted media types of the body, with an example of each. */
  bodies: Readonly<Record<string, { schema: JsonSchema; example?: unknown }>>
  answers: Readonly<
    Record<string, { headers: readonly string[]; content: Readonly<Record<string, { schema: JsonSchema; example?: unknown }>> }>
  >
}

export interface DeclaredParameter {
  name: string
  in: "path" | "query" | "header"
  required: boolean
  schema: JsonSchema
  /** `words`: a comma-separated list. `json`: JSON text. */
  form: "plain" | "words" | "json"
}

export type JsonSchema = { readonly [keyword: string]: unknown }

/** A part of the document, or the target of its reference. */
function resolved<T>(document: OpenApiDocument, part: T | { $ref: string }): T {
  if (typeof part !== "object" || part === null || !("$ref" in part)) return part as T
  const steps = part.$ref.replace("#/", "").split("/")
  return steps.reduce<unknown>((inner, step) => (inner as Record<string, unknown>)[step], document) as T
}

export function operationsIn(document: OpenApiDocument): Declared[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => declared(document, path, method, operation)),
  )
}

function declared(document: OpenApiDocument, path: string, method: string, operation: Operation): Declared {
  const answers = Object.entries(operation.responses).map(([status, answer]) => {
    const { headers = {}, content = {} } = resolved<{ headers?: object; content?: object }>(document, answer as never)
    return [status, { headers: Object.keys(headers), content }] as const
  })
  return {
    name: operation.operationId,
    method: method.toUpperCase(),
    path,
    ids: [...path.matchAll(/\{(\w+)\}/g)].map(([, id]) => id!),
    scopes: operation["x-required-scopes"] ?? [],
    permission: operation["x-permission"] ?? "",
    gate: operation["x-gate"] ?? { ask: "open" },
    needsUnrestricted: operation["x-unrestricted-key"] === true,
    parameters: operation.parameters.map((parameter) => declaredParameter(resolved(document, parameter as never))),
    bodies: (operation.requestBody?.content ?? {}) as Declared["bodies"],
    answers: Object.fromEntries(answers) as Declared["answers"],
  }
}

type RawParameter = {
  name: string
  in: DeclaredParameter["in"]
  required?: boolean
  schema?: JsonSchema
  explode?: boolean
}

function declaredParameter({ name, in: place, required = false, schema, explode }: RawParameter): DeclaredParameter {
  const json = schema?.contentSchema as JsonSchema | undefined
  return { name, in: place, required, schema: (json ?? schema)!, form: json ? "json" : explode === false ? "words" : "plain" }
}

/** Compiles schemas of the document. With `closed`, undeclared members are faults, although clients must ignore them. */
export function compiler(document: OpenApiDocument, { closed }: { closed: boolean }) {
  const ajv = new Ajv2020({ strict: true, strictTypes: false, strictTuples: false, allErrors: true, validateFormats: true })
  addFormats(ajv)
  const prepared = (schema: unknown): unknown => withRefs(closed ? closedSchema(schema) : schema)
  for (const [title, schema] of Object.entries(document.components.schemas)) ajv.addSchema(prepared(schema) as object, ADDRESS + title)
  const compiled = new Map<unknown, (value: unknown) => string | undefined>()

  return (schema: JsonSchema): ((value: unknown) => string | undefined) => {
    const known = compiled.get(schema)
    if (known) return known
    const validate = ajv.compile(prepared(schema) as object)
    const check = (value: unknown) => (validate(value) ? undefined : ajv.errorsText(validate.errors, { dataVar: "" }))
    compiled.set(schema, check)
    return check
  }
}

function mapped(value: unknown, change: (object: JsonSchema) => JsonSchema): unknown {
  if (Array.isArray(value)) return value.map((item) => mapped(item, change))
  if (typeof value !== "object" || value === null) return value
  return change(Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, mapped(inner, change)])))
}

const ADDRESS = "https://document.example/"

const withRefs = (schema: unknown) =>
  mapped(schema, (object) => {
    if (typeof object.$ref !== "string") return object
    return { ...object, $ref: object.$ref.replace("#/components/schemas/", ADDRESS) }
  })

/**
 * Returns the properties of all schemas that have no description. A property is also described by the schema that it refers to, and by
 * one of its alternatives.
 */
export function undescribedProperties(document: OpenApiDocument): string[] {
  const isDescribed = (schema: JsonSchema): boolean => {
    if (schema.description) return true
    if (typeof schema.$ref === "string") return isDescribed(resolved<JsonSchema>(document, { $ref: schema.$ref }))
    const alternatives = [schema.anyOf, schema.oneOf, schema.allOf].filter((part) => Array.isArray(part)).flat()
    return alternatives.some(isDescribed)
  }
  const propertiesBelow = (part: unknown, place: string): string[] => {
    if (typeof part !== "object" || part === null) return []
    return Object.entries(part).flatMap(([key, inner]) => {
      // Values, not schemas.
      if (["example", "examples", "default", "enum", "const"].includes(key)) return []
      if (key !== "properties") return propertiesBelow(inner, `${place}/${key}`)
      return Object.entries(inner as Record<string, JsonSchema>).flatMap(([name, schema]) => [
        ...(isDescribed(schema) ? [] : [`${place}/${name}`]),
        ...propertiesBelow(schema, `${place}/${name}`),
      ])
    })
  }
  const { paths, components } = document
  return [...propertiesBelow(paths, ""), ...propertiesBelow(components.schemas, "")]
}

/** A schema beside a reference lists only the members that it narrows, so it stays open. */
const closedSchema = (schema: unknown) =>
  mapped(schema, (object) =>
    object.type === "object" && "properties" in object && !("additionalProperties" in object) && !("$ref" in object)
      ? { ...object, additionalProperties: false }
      : object,
  )

/** Returns a function that lists the differences between a response and its declaration. */
export function answerChecker(document: OpenApiDocument) {
  const compile = compiler(document, { closed: true })

  return ({ answers }: Declared, given: Answer): string[] => {
    const { status, headers, body } = given
    const answer = answers[status]
    if (!answer) return [`status ${status} is not declared`]
    const type = headers.get("content-type")?.split(";")[0] ?? ""
    const isEmpty = body === ""
    if (Object.keys(answer.content).length === 0) return isEmpty ? [] : ["there is a body, and none is declared"]
    const content = answer.content[type]
    if (!content) return [`the media type ${type} is not declared`]
    const fault = compile(content.schema)(body)
    return [...(fault === undefined ? [] : [fault]), ...missingHeaders(answer.headers, given)]
  }
}

/** Headers that only some responses of a status have. */
const SOMETIMES = /^(Idempotency-Replayed|Retry-After|WWW-Authenticate|Cache-Control|X-Next-Since)$/
const OF_KEY = /RateLimit/

function missingHeaders(declared: readonly string[], { status, headers, body }: Answer): string[] {
  // These responses can be sent before the key is known.
  const isEarly = status >= 500 || /"code":"(not_found|invalid_header|origin_not_allowed)"/.test(JSON.stringify(body))
  const isOptional = (name: string) => SOMETIMES.test(name) || (isEarly && OF_KEY.test(name))
  return declared.filter((name) => !isOptional(name) && !headers.has(name)).map((name) => `the header ${name} is missing`)
}
