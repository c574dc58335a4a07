import type { ErrorCode } from "../../../domain/error.ts"
import type { OpenApiDocument, Operation } from "../document.ts"
import { meaningOf } from "../errors.ts"
import type { Schema } from "../schema.ts"
import { curlLine, exampleAnswer } from "./curl.ts"
import { fieldList, membersOf, resolved, typeOf } from "./fields.ts"
import { asJson, block, escapeHtml, inline, prose, table } from "./markup.ts"

export interface Place {
  method: string
  path: string
  operation: Operation
}

/** Renders an operation: what it does, its parameters, body, response and errors, and beside them a request and its response. */
export function operationSection(document: OpenApiDocument, place: Place, isGeneral: (code: string) => boolean): string {
  const { method, path, operation } = place
  const { operationId, summary, description } = operation
  return `<article id="${operationId}" aria-labelledby="${operationId}-title">
<div class="text">
<h3 id="${operationId}-title"><a href="#${operationId}">${escapeHtml(summary)}</a></h3>
<p class="route"><span class="method ${method}">${method.toUpperCase()}</span> <code>${breakable(path)}</code></p>
${description === undefined ? "" : prose(description)}
<p class="scopes">${scopesText(operation)}</p>
${parameterList(document, operation)}
${bodyList(document, operation)}
${responseList(document, operation)}
${errorTable(document, operation, isGeneral)}
</div>
<div class="examples">
${block("Request", escapeHtml(curlLine(document, place)))}
${answerBlock(document, operation)}
</div>
</article>`
}

/** Allows line breaks before each segment of a path. */
const breakable = (path: string): string => escapeHtml(path).replaceAll("/", "<wbr>/")

function scopesText(operation: Operation): string {
  const scopes = operation["x-required-scopes"] ?? []
  if (operation.security.length === 0) return "Needs no API key."
  const names = scopes.map((scope) => `<code>${scope}</code>`).join(" or ")
  const kind = operation["x-unrestricted-key"] ? ", and access to all sites of the organization" : ""
  // An operation that any key may use lists all scopes.
  return scopes.length > 6 ? "Needs an API key with any scope." : `Needs an API key with the scope ${names}${kind}.`
}

function parameterList(document: OpenApiDocument, { parameters }: Operation): string {
  const all = parameters.map((reference) => resolved(document, reference as Schema))
  const fields = all
    .filter((parameter) => parameter.in !== "header")
    .map((parameter) => ({
      name: String(parameter.name),
      schema: parameter.schema as Schema,
      isRequired: parameter.required === true,
      ...(typeof parameter.description === "string" && { description: parameter.description }),
    }))
  const headers = all.filter(({ in: place, name }) => place === "header" && name !== "X-Request-Id")
  const links = headers.map(({ name }) => `<a href="#headers"><code>${escapeHtml(String(name))}</code></a>`).join(", ")
  return [
    fields.length > 0 ? `<h4>Parameters</h4>${fieldList(document, fields)}` : "",
    links === "" ? "" : `<p class="facts">Optional headers: ${links}.</p>`,
  ].join("")
}

function bodyList(document: OpenApiDocument, { requestBody }: Operation): string {
  const bodies = Object.entries(requestBody?.content ?? {})
  return bodies
    .filter(([type], index) => index === 0 || type !== "application/merge-patch+json")
    .map(([type, { schema }]) => `<h4>Body <small>${escapeHtml(type)}</small></h4>${content(document, schema as Schema)}`)
    .join("")
}

function content(document: OpenApiDocument, schema: Schema): string {
  const { description } = resolved(document, schema)
  const list = fieldList(document, membersOf(document, schema))
  const text = typeof description === "string" ? `<p>${inline(description)}</p>` : ""
  return text + (list || (text === "" ? `<p>${capital(typeOf(document, schema))}.</p>` : ""))
}

const capital = (text: string): string => `${text[0]!.toUpperCase()}${text.slice(1)}`

function responseList(document: OpenApiDocument, { responses }: Operation): string {
  return Object.entries(responses)
    .filter(([status]) => status < "300")
    .map(([status, reference]) => {
      const { description, content: bodies = {} } = resolved(document, reference as Schema) as {
        description: string
        content?: Record<string, Schema>
      }
      const parts = Object.entries(bodies).map(
        ([type, { schema }]) =>
          `${Object.keys(bodies).length > 1 ? `<p><small>${escapeHtml(type)}</small></p>` : ""}${content(document, schema as Schema)}`,
      )
      return `<h4>Response <small>${status}</small></h4><p>${inline(description)}</p>${parts.join("")}`
    })
    .join("")
}

/** Renders the errors that are not among those of most operations. */
function errorTable(document: OpenApiDocument, operation: Operation, isGeneral: (code: string) => boolean): string {
  const all = errorsOf(document, operation)
  const own = all.filter(({ code }) => !isGeneral(code))
  const others = all.length > own.length ? `<p class="facts">The <a href="#errors">errors of most operations</a> can also occur.</p>` : ""
  const rows = own.map(({ status, code }) => [`<code>${status}</code> <code>${code}</code>`, inline(meaningOf(code))])
  return `<h4>Errors</h4>${rows.length > 0 ? table(["Status and code", "Meaning"], rows) : ""}${others}`
}

/** Returns the errors of an operation in the order of their status. */
export function errorsOf(document: OpenApiDocument, { responses }: Operation): { status: string; code: ErrorCode }[] {
  return Object.entries(responses)
    .filter(([status]) => status >= "400")
    .flatMap(([status, reference]) => {
      const { content: bodies = {} } = resolved(document, reference as Schema) as { content?: Record<string, Schema> }
      const { schema } = (bodies["application/problem+json"] ?? {}) as { schema?: { properties: { code: { enum: readonly ErrorCode[] } } } }
      return (schema?.properties.code.enum ?? []).map((code) => ({ status, code }))
    })
}

function answerBlock(document: OpenApiDocument, operation: Operation): string {
  const { status, example } = exampleAnswer(document, operation)
  if (example === undefined) return block(`Response ${status}`, "No body")
  return block(`Response ${status}`, typeof example === "string" ? escapeHtml(example) : asJson(example))
}
