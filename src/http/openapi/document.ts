import type { Scope } from "../../domain/key.ts"
import { allErrorCodes } from "../../plugin/errors.ts"
import type { Gate } from "../../web/router.ts"
import { collectResponses, type ResponseObject } from "./answers.ts"
import { requestExample } from "./examples/examples.ts"
import { RESPONSE_HEADERS } from "./headers.ts"
import { type Parameter, parametersOf, sharedParameters } from "./parameters.ts"
import { problemExample } from "./problem.ts"
import { type DescribedRoute, type Detail, describedRoutes, type RunningRoute } from "./route.ts"
import { collectSchemas, type Schema, type SchemaCollection } from "./schema.ts"

export interface Operation {
  operationId: string
  summary: string
  description?: string
  tags: readonly string[]
  /** Public API: scopes of which one is enough. Without scopes no key is needed. */
  "x-required-scopes"?: readonly Scope[]
  /** Whether the operation needs a key for all sites of the organization. */
  "x-unrestricted-key"?: true
  /** Private API: required permission, or the group of allowed callers. */
  "x-permission"?: string
  /** Private API: further conditions. */
  "x-gate"?: Gate
  security: readonly Readonly<Record<string, readonly string[]>>[]
  parameters: readonly Parameter[]
  requestBody?: { required: boolean; content: Record<string, Schema> }
  responses: Record<string, ResponseObject>
}

/** OpenAPI 3.1 document, as far as this program reads it. */
export interface OpenApiDocument {
  openapi: string
  info: { title: string; version: string; description: string; license: object }
  servers: readonly { url: string }[]
  tags: readonly { name: string; description: string }[]
  paths: Record<string, Record<string, Operation>>
  /** Messages that the instance sends, by event. */
  webhooks?: Record<string, { post: object }>
  components: Record<"schemas" | "responses" | "headers" | "parameters" | "examples" | "securitySchemes", Record<string, Schema>>
}

/**
 * Creates the OpenAPI 3.1 document of the public API from its routes. Parameters, responses and errors follow from the schemas,
 * the scopes and the path of each route. Throws if a route has no operation id, summary or scopes.
 */
export function openApiDocument(running: readonly RunningRoute[], { baseUrl }: { baseUrl: string }): OpenApiDocument {
  return documentOf(describedRoutes(running), {
    baseUrl,
    title: "Footfall API",
    about: ABOUT,
    tags: TAGS,
    securitySchemes: {
      apiKey: {
        type: "http",
        scheme: "bearer",
        description: "API key of an organization. Create one in the dashboard or with `footfall key create`.",
      },
    },
  })
}

/** Parts of a document that do not follow from the routes. */
export interface DocumentInfo {
  baseUrl: string
  title: string
  about: string
  /** Tags in the order of the page. */
  tags: readonly (readonly [name: string, description: string])[]
  securitySchemes: Record<string, Schema>
}

export function documentOf(
  routes: readonly DescribedRoute[],
  { baseUrl, title, about, tags, securitySchemes }: DocumentInfo,
): OpenApiDocument {
  const schemas = collectSchemas()
  const answers = collectResponses(schemas)
  const paths: OpenApiDocument["paths"] = {}
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method]: operation(route, schemas, answers.of(route)) }
  }
  const codes = new Set(routes.flatMap(({ failures }) => failures))
  const messages = Object.assign({}, ...routes.map(({ detail }) => detail["x-webhooks"]?.())) as ReturnType<
    NonNullable<Detail["x-webhooks"]>
  >
  const webhooks = Object.entries(messages).map(([event, { title, schema }]) => [event, { post: message(title, schemas.of(schema)) }])
  return {
    openapi: "3.1.0",
    info: { title, version: "1", description: about, license: { name: "MIT", identifier: "MIT" } },
    servers: [{ url: baseUrl || "/" }],
    tags: tags.map(([name, description]) => ({ name, description })),
    paths,
    ...(webhooks.length > 0 && { webhooks: Object.fromEntries(webhooks) }),
    components: {
      schemas: schemas.components(),
      responses: answers.components() as Record<string, Schema>,
      headers: { ...RESPONSE_HEADERS },
      parameters: sharedParameters(routes),
      examples: Object.fromEntries(
        allErrorCodes()
          .filter((code) => codes.has(code))
          .map((code) => [code, problemExample(code, baseUrl) as Schema]),
      ),
      securitySchemes,
    },
  }
}

/** Describes a message to webhooks, which is signed by the Standard Webhooks specification. */
const message = (summary: string, schema: Schema): object => ({
  summary,
  requestBody: { required: true, content: { "application/json": { schema } } },
  responses: { "2XX": { description: "The message was received. After any other status it is sent again." } },
})

function operation(route: DescribedRoute, schemas: SchemaCollection, responses: Record<string, ResponseObject>): Operation {
  const { operationId, summary, detail } = route
  return {
    operationId,
    summary,
    ...(detail.description !== undefined && { description: detail.description }),
    tags: detail.tags ?? [],
    ...requirements(route),
    parameters: parametersOf(route, schemas),
    ...(detail.requestBody && { requestBody: requestBody(route, detail.requestBody, schemas) }),
    responses,
  }
}

/** Returns the requirements for callers of an operation. */
function requirements({
  scopes,
  detail,
  access,
}: DescribedRoute): Pick<Operation, "x-required-scopes" | "x-permission" | "x-gate" | "security"> {
  if (access) {
    const { permission, gate } = access
    return { "x-permission": permission, "x-gate": gate, security: gate.ask === "open" ? [] : [{ session: [] }] }
  }
  return {
    "x-required-scopes": scopes,
    ...(detail["x-unrestricted-key"] && { "x-unrestricted-key": true }),
    security: scopes.length > 0 ? [{ apiKey: [] }] : [],
  }
}

function requestBody(
  { operationId, detail }: DescribedRoute,
  { required, content }: NonNullable<DescribedRoute["detail"]["requestBody"]>,
  schemas: SchemaCollection,
) {
  const bodies = Object.entries(content).map(([type, { schema }]) => {
    const example = requestExample(operationId, type) ?? detail["x-examples"]?.request
    return [type, { schema: schemas.of(schema), ...(example === undefined ? {} : { example }) }] as const
  })
  return { required, content: Object.fromEntries(bodies) }
}

const ABOUT = `Sites, goals, funnels, annotations and statistics of a Footfall instance.

Send an API key with every request: \`Authorization: Bearer ff_…\`. A key has scopes, and each operation lists the scopes, any one
of which is enough. A key gives access to all sites of its organization or to selected sites.

Errors are \`application/problem+json\`. Use the member \`code\` to distinguish them. If a request has several problems, the first
one in this order is returned: address, method, key, scope, rate limit, resources in the path, Accept, size, media type, syntax,
content, conflicts, If-Match.

A list in a query string is one parameter with comma-separated items, such as \`metrics=visitors,pageviews\` (in OpenAPI:
\`style: form\`, \`explode: false\`). Repeated parameters are rejected. \`filters\` is a JSON array.

Version 1 only ever adds members, so ignore members that you do not know. All \`GET\` operations also support \`HEAD\`.`

/** In the order in which people read them. */
const TAGS = [
  ["stats", "Reports of a site with simple parameters."],
  ["query", "Flexible queries in the format of Plausible's stats API v2."],
  ["sites", "The sites of an organization."],
  ["goals", "Actions of visitors that count as conversions. Goals apply to past data, too."],
  ["funnels", "Saved sequences of steps that visitors take."],
  ["settings", "Settings of a site, and its whole configuration as one document."],
  ["segments", "Saved sets of filters of a site."],
  ["shares", "Read-only views of a site for anyone who has the link."],
  ["annotations", "Notes on dates in the reports of a site."],
  ["events", "Events sent by the servers of a site."],
  ["export", "Streamed exports of reports and raw data."],
  ["cohorts", "Sets of visitors that are followed over time, and how many of them return."],
  ["people", "Erasure of everything about a person."],
  ["mcp", "Model Context Protocol endpoint with seven read-only tools for assistants."],
  ["plausible", "Plausible's stats API v1 and sites API, for its clients."],
  ["umami", "Umami's reports on websites, for its clients. They also accept the key in the header `x-umami-api-key`."],
  ["key", "The API key in use."],
  ["members", "Site-specific roles of members and guests of the organization, and invitations to a site."],
  ["api-keys", "API keys that are limited to sites. A key cannot create one with more rights than it has itself."],
  ["documents", "Description of this API."],
] as const
