import type { Static } from "@sinclair/typebox"
import type { Host } from "#plugin"
import type { Format } from "./format.ts"
import type { Holders } from "./holders.ts"
import type { Imports } from "./lifecycle.ts"
import type { Previews } from "./preview.ts"
import type { Runs } from "./run/run.ts"
import type { Settings } from "./settings.ts"
import type { Staging } from "./staging.ts"
import type { Streams } from "./streams/streams.ts"
import type { Uploads } from "./uploads.ts"

export type ImportsHost = Host<Static<typeof Settings>>

/** Parts of the plugin that its routes and jobs share. */
export interface Area {
  host: ImportsHost
  staging: Staging
  uploads: Uploads
  streams: Streams
  previews: Previews
  holders: Holders
  runs: Runs
  imports: Imports
  format: Format
}

/** Returns the OpenAPI documentation of a route. */
export const operation = (summary: string, more: object = {}) => ({ summary, tags: ["imports"], ...more })

/** Documents error codes that do not follow from the form of the route. */
export const failures = (...codes: string[]): object => ({ "x-failures": codes })

/** Documents a request body that a service validates. */
export const requestBody = (schema: object): object => ({ requestBody: { required: true, content: { "application/json": { schema } } } })
