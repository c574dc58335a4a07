import type { OpenApiDocument, Operation } from "./document.ts"
import { asJson, block, descriptionOf, escapeHtml, inline, prose, table, typeText } from "./page-markup.ts"
import type { Schema } from "./schema.ts"

interface Place {
  method: string
  path: string
  operation: Operation
}

/** Renders an operation with its parameters, responses and errors. */
export function operationSection(document: OpenApiDocument, { method, path, operation }: Place): string {
  const { operationId, summary, description } = operation
  return `<article id="${operationId}">
<h3>${escapeHtml(summary)}</h3>
<p class="route"><span class="method ${method}">${method.toUpperCase()}</span> <code>${breakable(path)}</code></p>
${description === undefined ? "" : prose(description)}
<p class="scopes">${scopesText(operation)}</p>
${parameterTable(document, operation)}
${bodies("Body", operation.requestBody?.content)}
${answers(document, operation)}
</article>`
}

/** Allows line breaks before each segment of a path. */
const breakable = (path: string): string => escapeHtml(path).replaceAll("/", "<wbr>/")

function scopesText(operation: Operation): string {
  const scopes = operation["x-required-scopes"] ?? []
  if (scopes.length === 0) return "No API key required."
  const names = scopes.map((scope) => `<code>${scope}</code>`).join(" or ")
  const kind = operation["x-unrestricted-key"] ? " with a key for all sites of the organization" : ""
  return `Required scope: ${names}${kind}.`
}

/** Resolves a reference within the document. */
const resolved = (document: OpenApiDocument, part: Schema | { $ref: string }): Schema => {
  const { $ref } = part as Schema
  if (typeof $ref !== "string") return part as Schema
  const [kind, name] = $ref.replace("#/components/", "").split("/") as [keyof OpenApiDocument["components"], string]
  return document.components[kind][name]!
}

function parameterTable(document: OpenApiDocument, { parameters }: Operation): string {
  const rows = parameters.map((reference) => {
    const parameter = resolved(document, reference as Schema)
    const { schema, required } = parameter as { schema: Schema; required?: boolean }
    const { contentSchema } = schema as { contentSchema?: Schema }
    const type = contentSchema ? `JSON text: ${typeText(contentSchema)}` : typeText(schema)
    const place = `<small>${parameter.in}${required ? ", required" : ""}</small>`
    return [`<code>${escapeHtml(String(parameter.name))}</code> ${place}`, type, descriptionOf(parameter)]
  })
  return table(["Parameter", "Type", "Description"], rows)
}

function bodies(title: string, content: Record<string, Schema> | undefined): string {
  return Object.entries(content ?? {})
    .map(([type, { schema, example }]) => {
      const text = `<h4>${title} <small>${escapeHtml(type)}</small></h4><p>${typeText(schema as Schema)}</p>`
      return example === undefined ? text : text + block("Example", asJson(example))
    })
    .join("\n")
}

function answers(document: OpenApiDocument, { responses }: Operation): string {
  const all = Object.entries(responses).map(([status, answer]) => ({ status, answer: resolved(document, answer as Schema) }))
  const good = all.filter(({ status }) => status < "300")
  const failures = all.filter(({ status }) => status >= "300")
  return `${good.map(({ status, answer }) => goodAnswer(status, answer)).join("\n")}
<details><summary>Other responses: ${failures.map(({ status }) => status).join(", ")}</summary>
<dl>${failures.map(({ status, answer }) => `<dt>${status}</dt><dd>${prose(String(answer.description))}</dd>`).join("")}</dl></details>`
}

function goodAnswer(status: string, answer: Schema): string {
  const content = answer.content as Record<string, Schema> | undefined
  const headers = Object.keys((answer.headers ?? {}) as object).map((name) => `<code>${name}</code>`)
  return `<h4>Response ${status}</h4><p>${inline(String(answer.description))} Headers: ${headers.join(" ")}.</p>${bodies(`Body of ${status}`, content)}`
}
