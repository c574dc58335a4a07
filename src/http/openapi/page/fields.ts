import type { OpenApiDocument } from "../document.ts"
import type { Schema } from "../schema.ts"
import { escapeHtml, inline } from "./markup.ts"

/** A parameter of an operation, or a member of a body. */
export interface Field {
  name: string
  schema: Schema
  isRequired: boolean
  description?: string
}

/** Depth to which the members of members are shown. */
const MAX_DEPTH = 4

/** Renders fields with their types, meanings and limits, and with the members of nested objects folded. */
export function fieldList(document: OpenApiDocument, fields: readonly Field[], depth = 0): string {
  if (fields.length === 0) return ""
  return `<ul class="fields">${fields.map((field) => `<li>${fieldItem(document, field, depth)}</li>`).join("")}</ul>`
}

function fieldItem(document: OpenApiDocument, { name, schema: given, isRequired, description }: Field, depth: number): string {
  const schema = resolved(document, given)
  const text = description ?? given.description ?? schema.description
  const facts = factsOf(document, schema)
  const nested = depth < MAX_DEPTH ? nestedFields(document, schema) : []
  return [
    `<p class="name"><code>${escapeHtml(name)}</code> <span class="type">${typeOf(document, schema)}</span>${isRequired ? ' <span class="required">required</span>' : ""}</p>`,
    typeof text === "string" ? `<p>${inline(text)}</p>` : "",
    facts === "" ? "" : `<p class="facts">${facts}</p>`,
    nested.length === 0
      ? ""
      : `<details><summary>${nested.length} ${nested.length === 1 ? "member" : "members"} of <code>${escapeHtml(name)}</code></summary>${fieldList(document, nested, depth + 1)}</details>`,
  ].join("")
}

/** Returns the members of an object, or of the objects in a list. Nothing for other schemas. */
export function membersOf(document: OpenApiDocument, given: Schema): Field[] {
  const schema = resolved(document, given)
  const required = (schema.required ?? []) as readonly string[]
  const properties = Object.entries((schema.properties ?? {}) as Record<string, Schema>)
  return properties.map(([name, member]) => ({ name, schema: member, isRequired: required.includes(name) }))
}

function nestedFields(document: OpenApiDocument, schema: Schema): Field[] {
  const { items, anyOf, contentSchema } = schema as Parts
  if (contentSchema) return nestedFields(document, resolved(document, contentSchema))
  if (items) return nestedFields(document, resolved(document, items))
  const own = membersOf(document, schema)
  return own.length > 0 ? own : (anyOf ?? []).flatMap((one) => nestedFields(document, resolved(document, one)))
}

/** Resolves a reference within the document, also one with a description of its own. */
export function resolved(document: OpenApiDocument, part: Schema): Schema {
  const { $ref, allOf } = part as { $ref?: string; allOf?: readonly Schema[] }
  if (allOf?.length === 1) return resolved(document, allOf[0]!)
  if ($ref === undefined) return part
  const [kind, name] = $ref.replace("#/components/", "").split("/") as [keyof OpenApiDocument["components"], string]
  return resolved(document, document.components[kind][name]!)
}

interface Parts {
  type?: string | readonly string[]
  items?: Schema | false
  prefixItems?: readonly Schema[]
  anyOf?: readonly Schema[]
  additionalProperties?: Schema | boolean
  contentSchema?: Schema
}

const PLURALS: Readonly<Record<string, string>> = { array: "lists", object: "objects", any: "values" }
const NAMES: Readonly<Record<string, string>> = { array: "list" }

/** Describes the type of a value in words, such as "list of strings". */
export function typeOf(document: OpenApiDocument, given: Schema, isPlural = false): string {
  const schema = resolved(document, given)
  const { type, items, prefixItems, anyOf, additionalProperties, contentSchema } = schema as Parts
  if (contentSchema) return `${typeOf(document, contentSchema)} as JSON`
  if (schema.const !== undefined) return `<code>${escapeHtml(JSON.stringify(schema.const))}</code>`
  if (schema.title === "QueryFilter") return isPlural ? "filters" : "filter"
  if (anyOf) return [...new Set(anyOf.map((one) => typeOf(document, one, isPlural)))].join(" or ")
  if (prefixItems)
    return `${isPlural ? "pairs" : "pair"} of ${pairText(prefixItems.map((item) => [typeOf(document, item), typeOf(document, item, true)]))}`
  if (items) return `${isPlural ? "lists" : "list"} of ${typeOf(document, items, true)}`
  if (type === "object" && typeof additionalProperties === "object" && !schema.properties)
    return `${isPlural ? "objects" : "object"} of ${typeOf(document, additionalProperties, true)} by name`
  const names = [type ?? (schema.enum ? "string" : "any")].flat()
  const shown = names.map((name) => (isPlural && name !== "null" ? (PLURALS[name] ?? `${name}s`) : (NAMES[name] ?? name)))
  return shown.join(" or ")
}

/** Describes the items of a tuple, which have two members everywhere: "strings", or "a string and an integer". */
function pairText(types: readonly (readonly [one: string, many: string])[]): string {
  const [first] = types
  return first && types.every(([one]) => one === first[0]) ? first[1] : types.map(([one]) => `${article(one)} ${one}`).join(" and ")
}

const article = (noun: string): string => (/^[aeiou]/.test(noun) ? "an" : "a")

/** Describes default, allowed values and limits, each as a sentence. */
function factsOf(document: OpenApiDocument, schema: Schema): string {
  const { items, contentSchema } = schema as Parts
  const listed = items ? resolved(document, items) : undefined
  const own = contentSchema ? resolved(document, contentSchema) : schema
  const sentences = [
    allowedText(schema) || (listed ? allowedText(listed) : ""),
    sizeText(own.minimum, own.maximum, ["", ""]),
    sizeText(own.minLength, own.maxLength, [" character", " characters"]),
    sizeText(own.minItems, own.maxItems, [" item", " items"]),
    sizeText(undefined, own.maxProperties, [" entry", " entries"]),
    own.default === undefined || JSON.stringify(own.default) === "[]" ? "" : `Default: ${valueText(own.default)}`,
  ]
  return sentences
    .filter(Boolean)
    .map((text) => `${text}.`)
    .join(" ")
}

const allowedText = (schema: Schema): string => {
  const values = (schema.enum ?? []) as readonly unknown[]
  return values.length === 0 ? "" : `One of ${values.map((value) => `<code>${escapeHtml(String(value))}</code>`).join(", ")}`
}

const valueText = (value: unknown): string => {
  const text = Array.isArray(value) ? value.join(",") : typeof value === "string" ? value : JSON.stringify(value)
  return `<code>${escapeHtml(text)}</code>`
}

function sizeText(minimum: unknown, maximum: unknown, [one, many]: readonly [string, string]): string {
  const most = maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum
  const isSelfEvident = (minimum === 0 && many !== "") || (minimum === 1 && (many !== "" ? most !== undefined : most === undefined))
  const least = isSelfEvident ? undefined : minimum
  const unit = (count: unknown) => (count === 1 ? one : many)
  if (least === undefined) return most === undefined ? "" : `Up to ${most}${unit(most)}`
  if (most === undefined) return `At least ${least}${unit(least)}`
  return least === most ? `Exactly ${most}${unit(most)}` : `${least} to ${most}${unit(most)}`
}
