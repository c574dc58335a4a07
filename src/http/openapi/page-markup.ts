import type { Schema } from "./schema.ts"

/** Escapes text for HTML. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

/** Renders paragraphs with `code` in backticks. */
export const prose = (text: string): string =>
  text
    .split("\n\n")
    .map((paragraph) => `<p>${inline(paragraph)}</p>`)
    .join("\n")

/** Renders the text of one paragraph with `code` in backticks. */
export const inline = (text: string): string => escapeHtml(text).replace(/`([^`]+)`/g, "<code>$1</code>")

/** Formats a value as it would be sent. */
export const asJson = (value: unknown): string => escapeHtml(typeof value === "string" ? value : JSON.stringify(value, null, 2))

/** Renders a code block that can be scrolled with the keyboard. */
export const block = (label: string, text: string): string =>
  `<figure><figcaption>${escapeHtml(label)}</figcaption><pre tabindex="0">${text}</pre></figure>`

/** Renders a component schema. */
export function schemaSection(name: string, schema: Schema): string {
  const description = typeof schema.description === "string" ? prose(schema.description) : ""
  return `<article id="schema-${name}"><h3>${name}</h3>${description}${memberTable(schema) || `<p>${typeText(schema)}</p>`}</article>`
}

/** Renders the members of an object and of nested objects, or returns "" for other schemas. */
function memberTable(schema: Schema): string {
  const rows = memberRows(schema, "")
  if (rows.length === 0) return ""
  return table(["Member", "Type", "Description"], rows)
}

/** Renders a table. On narrow screens its cells are stacked. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const head = heads.map((text) => `<th scope="col">${text}</th>`).join("")
  const body = rows.map((cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`).join("")
  return `<table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table>`
}

function memberRows(schema: Schema, prefix: string): string[][] {
  const properties = Object.entries((schema.properties ?? {}) as Record<string, Schema>)
  const required = (schema.required ?? []) as readonly string[]
  return properties.flatMap(([name, member]) => {
    const path = `${prefix}${name}`
    const mark = required.includes(name) ? "" : " <small>optional</small>"
    const row = [`<code>${escapeHtml(path)}</code>${mark}`, typeText(member), descriptionOf(member)]
    const inner = (member.items ?? {}) as Schema
    return [row, ...memberRows(member, `${path}.`), ...memberRows(inner, `${path}[].`)]
  })
}

export const descriptionOf = ({ description }: Schema): string => (typeof description === "string" ? inline(description) : "")

/** Describes the type of a value in words. */
export function typeText(schema: Schema): string {
  const { $ref, type, items, anyOf, additionalProperties, prefixItems } = schema as { [member: string]: unknown } & Alternatives
  if (typeof $ref === "string") return schemaLink($ref)
  if (schema.const !== undefined) return `<code>${escapeHtml(JSON.stringify(schema.const))}</code>`
  if (anyOf) return anyOf.map(typeText).join(" or ")
  const bounds = boundsText(schema)
  if (prefixItems && items === false) return `list of ${prefixItems.map(typeText).join(", ")}`
  if (items && typeof items === "object") return `list of ${typeText(items)}${bounds}`
  if (type === "object" && typeof additionalProperties === "object") return `object of ${typeText(additionalProperties)}${bounds}`
  const members = Object.keys((schema.properties ?? {}) as object).map((name) => `<code>${escapeHtml(name)}</code>`)
  return `${choices(schema) || typeName(type)}${members.length > 0 ? ` with ${members.join(" ")}` : ""}${bounds}`
}

interface Alternatives {
  items?: Schema | false
  anyOf?: readonly Schema[]
  additionalProperties?: Schema | boolean
  prefixItems?: readonly Schema[]
}

function schemaLink(ref: string): string {
  const name = ref.split("/").at(-1)!
  return `<a href="#schema-${name}">${name}</a>`
}

const choices = (schema: Schema): string =>
  ((schema.enum ?? []) as readonly unknown[]).map((value) => `<code>${escapeHtml(String(value))}</code>`).join(" ")

const typeName = (type: unknown): string => (Array.isArray(type) ? type.join(" or ") : String(type ?? "any"))

function boundsText(schema: Schema): string {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, maxProperties, format, pattern } = schema as Record<string, unknown>
  const texts = [
    format && String(format),
    span(minimum, maximum, ""),
    span(minLength, maxLength, " characters"),
    span(minItems, maxItems, " items"),
    span(undefined, maxProperties, " entries"),
    pattern && `matches <code>${escapeHtml(String(pattern))}</code>`,
    schema.default !== undefined && `default <code>${escapeHtml(JSON.stringify(schema.default))}</code>`,
  ].filter(Boolean)
  return texts.length === 0 ? "" : `, ${texts.join(", ")}`
}

function span(from: unknown, to: unknown, unit: string): string | undefined {
  const isOpen = to === undefined || to === Number.MAX_SAFE_INTEGER
  if (from === undefined && isOpen) return undefined
  if (isOpen) return `from ${from}${unit}`
  return from === undefined ? `at most ${to}${unit}` : `${from} to ${to}${unit}`
}
