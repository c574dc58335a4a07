import { ERROR_CODES } from "../../domain/error.ts"
import type { Scope } from "../../domain/key.ts"
import type { Gate } from "../../plugin/router.ts"
import { type Answer, collectAnswers } from "./answers.ts"
import { requestExample } from "./examples.ts"
import { ANSWER_HEADERS } from "./headers.ts"
import { type Parameter, parametersOf, sharedParameters } from "./parameters.ts"
import { problemExample } from "./problem.ts"
import { type DescribedRoute, describedRoutes, type RunningRoute } from "./route.ts"
import { collectSchemas, type Schema, type SchemaCollection } from "./schema.ts"

export interface Operation {
  operationId: string
  summary: string
  description?: string
  tags: readonly string[]
  /** Of the public API: any one of them is enough; without any no key is needed. */
  "x-required-scopes"?: readonly Scope[]
  /** Only a key for all sites of the organization will do. */
  "x-unrestricted-key"?: true
  /** Of the private API: a permission, or who else may ask. */
  "x-permission"?: string
  /** The terms beside the permission. */
  "x-gate"?: Gate
  security: readonly Readonly<Record<string, readonly string[]>>[]
  parameters: readonly Parameter[]
  requestBody?: { required: boolean; content: Record<string, Schema> }
  responses: Record<string, Answer>
}

/** As far as it is read here and by the page; all of it is OpenAPI 3.1. */
export interface OpenApiDocument {
  openapi: string
  info: { title: string; version: string; description: string; license: object }
  servers: readonly { url: string }[]
  tags: readonly { name: string; description: string }[]
  paths: Record<string, Record<string, Operation>>
  components: Record<"schemas" | "responses" | "headers" | "parameters" | "examples" | "securitySchemes", Record<string, Schema>>
}

/**
 * The public API as OpenAPI 3.1, from the routes that run: what a route is asked, answers and refuses follows from its schemas,
 * its scopes and its place. Throws for a route that does not say what it is.
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
        description: "An API key of an organization, made in the dashboard or by `footfall key create`.",
      },
    },
  })
}

/** What of a document does not follow from its routes. */
export interface About {
  baseUrl: string
  title: string
  about: string
  /** In the order in which people read them. */
  tags: readonly (readonly [name: string, description: string])[]
  securitySchemes: Record<string, Schema>
}

export function documentOf(routes: readonly DescribedRoute[], { baseUrl, title, about, tags, securitySchemes }: About): OpenApiDocument {
  const schemas = collectSchemas()
  const answers = collectAnswers(schemas)
  const paths: OpenApiDocument["paths"] = {}
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method]: operation(route, schemas, answers.of(route)) }
  }
  const codes = new Set(routes.flatMap(({ failures }) => failures))
  return {
    openapi: "3.1.0",
    info: { title, version: "1", description: about, license: { name: "MIT", identifier: "MIT" } },
    servers: [{ url: baseUrl || "/" }],
    tags: tags.map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: schemas.components(),
      responses: answers.components() as Record<string, Schema>,
      headers: { ...ANSWER_HEADERS },
      parameters: sharedParameters(routes),
      examples: Object.fromEntries(
        ERROR_CODES.filter((code) => codes.has(code)).map((code) => [code, problemExample(code, baseUrl) as Schema]),
      ),
      securitySchemes,
    },
  }
}

function operation(route: DescribedRoute, schemas: SchemaCollection, responses: Record<string, Answer>): Operation {
  const { operationId, summary, detail } = route
  return {
    operationId,
    summary,
    ...(detail.description !== undefined && { description: detail.description }),
    tags: detail.tags ?? [],
    ...standing(route),
    parameters: parametersOf(route, schemas),
    ...(detail.requestBody && { requestBody: requestBody(route, detail.requestBody, schemas) }),
    responses,
  }
}

/** What somebody must have to be let in. */
function standing({
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
  { operationId }: DescribedRoute,
  { required, content }: NonNullable<DescribedRoute["detail"]["requestBody"]>,
  schemas: SchemaCollection,
) {
  const bodies = Object.entries(content).map(([type, { schema }]) => {
    const example = requestExample(operationId, type)
    return [type, { schema: schemas.of(schema), ...(example === undefined ? {} : { example }) }] as const
  })
  return { required, content: Object.fromEntries(bodies) }
}

const ABOUT = `Sites, goals, funnels, annotations and statistics of a Footfall instance.

Send an API key with every request: \`Authorization: Bearer ff_…\`. A key has scopes, of which a request needs one of those its
operation names, and reaches all sites of its organization or chosen ones.

Errors are \`application/problem+json\`; branch on their member \`code\`. Of several faults the first in this order answers:
address, method, key, scope, rate, things named in the path, Accept, size, media type, syntax, content, conflicts, If-Match.

Within version 1 members are only ever added: ignore what you do not know. \`HEAD\` is answered wherever \`GET\` is.`

/** In the order in which people read them. */
const TAGS = [
  ["stats", "Numbers of a site, by plain parameters."],
  ["query", "Any question at once, in the form that clients of Plausible's stats API send."],
  ["sites", "The sites of an organization."],
  ["goals", "What is worth counting. Goals are evaluated over stored events: a new one applies to the past."],
  ["funnels", "Ordered steps that visitors take, saved under a name."],
  ["annotations", "Notes at moments of a site's history."],
  ["events", "Events that a site's own servers send."],
  ["export", "Whole tables and raw rows, streamed."],
  ["mcp", "Seven read-only tools for assistants."],
  ["key", "The API key in use."],
  ["documents", "This description."],
] as const
