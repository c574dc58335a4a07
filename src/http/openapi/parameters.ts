import { REQUEST_HEADERS, requestHeaders } from "./headers.ts"
import type { DescribedRoute } from "./route.ts"
import type { Schema, SchemaCollection } from "./schema.ts"

/** Parameter, or a reference to a shared one. */
export type Parameter = { $ref: string } | ({ name: string; in: "path" | "query"; required?: boolean } & Schema)

export function parametersOf(route: DescribedRoute, schemas: SchemaCollection): Parameter[] {
  return [
    ...route.ids.map((id) => ({ $ref: `#/components/parameters/${id}` })),
    ...Object.entries(route.query).map(([name, declared]) => queryParameter(name, declared, schemas)),
    ...requestHeaders(route).map((name) => ({ $ref: `#/components/parameters/${name}` })),
  ]
}

function queryParameter(name: string, declared: Schema, schemas: SchemaCollection): Parameter {
  const { description, ...schema } = schemas.of((declared["x-parameter"] ?? declared) as Schema)
  const { items } = schema as { items?: Schema }
  const shared = { name, in: "query" as const, required: declared["x-required"] === true }
  if (items === undefined) return { ...shared, ...(description ? { description } : {}), schema }
  // A string with described content, because client generators do not support parameters with their own media type.
  if (items.type === "object")
    return { ...shared, description: sentences(description, JSON_TEXT), schema: { type: "string", ...jsonText(schema) } }
  return { ...shared, description: sentences(description, COMMAS), style: "form", explode: false, schema }
}

const jsonText = (schema: Schema) => ({ contentMediaType: "application/json", contentSchema: schema })
const JSON_TEXT = "Encoded as a JSON array."
const COMMAS = "Comma-separated list in one parameter (`explode: false`)."

/** Joins sentences. Adds a missing full stop. */
const sentences = (...texts: readonly unknown[]): string =>
  texts
    .filter((text): text is string => typeof text === "string")
    .map((text) => (text.endsWith(".") ? text : `${text}.`))
    .join(" ")

const ID_WORDS: Readonly<Record<string, string>> = {
  site_id: "Id of the site. The response is the same for a site that does not exist and one the key has no access to.",
  goal_id: "Id of a goal of the site.",
  funnel_id: "Id of a funnel of the site.",
  annotation_id: "Id of an annotation of the site.",
  share_id: "Id of a shared view of the site.",
  api_key_id: "Id of an API key of the site.",
  user_id: "Id of a user.",
  site: "Id of the site. The response is the same for a site that does not exist and one you have no access to.",
  organization: "Id of the organization. The response is the same for an organization that does not exist and one you are not a member of.",
  user: "Id of the user.",
}
/** Path parameters that are not numbers. */
const TEXTS: Readonly<Record<string, string>> = {
  domain: "Host of the site, or its id.",
  website: "Tracking id or id of the site, its host, or the id that it had in Umami.",
  token: "Token from the link.",
  provider: "Id of the identity provider.",
  name: "Name of the item.",
  backup_id: "Id of the backup.",
  plugin_id: "Id of the plugin.",
}

/** Returns the parameters that operations share, by name. */
export function sharedParameters(routes: readonly DescribedRoute[]): Record<string, Schema> {
  const ids = [...new Set(routes.flatMap((route) => route.ids))].map((name) => [name, idParameter(name)] as const)
  const headers = Object.entries(REQUEST_HEADERS).map(([name, header]) => [name, { name, in: "header", ...header }] as const)
  return Object.fromEntries([...ids, ...headers])
}

function idParameter(name: string): Schema {
  const place = { name, in: "path", required: true }
  const text = TEXTS[name]
  if (text !== undefined) return { ...place, description: text, schema: { type: "string" } }
  const description = ID_WORDS[name] ?? `Id of the ${name.replace(/_id$/, "").replaceAll("_", " ")}.`
  return { ...place, description, schema: { type: "integer", minimum: 1, maximum: Number.MAX_SAFE_INTEGER }, example: 1 }
}
