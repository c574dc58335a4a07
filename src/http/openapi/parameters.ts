import { REQUEST_HEADERS, requestHeaders } from "./headers.ts"
import type { DescribedRoute } from "./route.ts"
import type { Schema, SchemaCollection } from "./schema.ts"

/** A parameter, or a reference to one. */
export type Parameter = { $ref: string } | ({ name: string; in: "path" | "query"; required?: boolean } & Schema)

export function parametersOf(route: DescribedRoute, schemas: SchemaCollection): Parameter[] {
  return [
    ...route.ids.map((id) => ({ $ref: `#/components/parameters/${id}` })),
    ...Object.entries(route.query).map(([name, declared]) => queryParameter(name, declared, schemas)),
    ...requestHeaders(route).map((name) => ({ $ref: `#/components/parameters/${name}` })),
  ]
}

function queryParameter(name: string, declared: Schema, schemas: SchemaCollection): Parameter {
  const { description, ...schema } = schemas.of((declared["x-parameter"] ?? {}) as Schema)
  const { items } = schema as { items?: Schema }
  const form =
    items === undefined
      ? { schema }
      : items.type === "object"
        ? // Lists of objects are written as JSON, lists of words with commas.
          { content: { "application/json": { schema } } }
        : { style: "form", explode: false, schema }
  return { name, in: "query", required: declared["x-required"] === true, ...(description ? { description } : {}), ...form }
}

const ID_WORDS: Readonly<Record<string, string>> = {
  site_id: "The site. One that does not exist and one out of the key's sight are answered alike.",
  goal_id: "A goal of the site.",
  funnel_id: "A funnel of the site.",
  annotation_id: "An annotation of the site.",
  site: "The site. One that does not exist and one out of sight are answered alike.",
  organization: "The organization. One that does not exist and one out of sight are answered alike.",
  user: "The user.",
}
/** What stands in a path and is no number. */
const TEXTS: Readonly<Record<string, string>> = {
  token: "As it stands in the link.",
  provider: "The identity provider.",
  name: "Its name.",
  backup_id: "The backup.",
  plugin_id: "The plugin.",
}

/** Parameters that several operations share, by the name they are referred to. */
export function sharedParameters(routes: readonly DescribedRoute[]): Record<string, Schema> {
  const ids = [...new Set(routes.flatMap((route) => route.ids))].map((name) => [name, idParameter(name)] as const)
  const headers = Object.entries(REQUEST_HEADERS).map(([name, header]) => [name, { name, in: "header", ...header }] as const)
  return Object.fromEntries([...ids, ...headers])
}

function idParameter(name: string): Schema {
  const place = { name, in: "path", required: true }
  const text = TEXTS[name]
  if (text !== undefined) return { ...place, description: text, schema: { type: "string" } }
  const description = ID_WORDS[name] ?? `The ${name.replace(/_id$/, "").replaceAll("_", " ")}.`
  return { ...place, description, schema: { type: "integer", minimum: 1, maximum: Number.MAX_SAFE_INTEGER }, example: 1 }
}
