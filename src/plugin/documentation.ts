import type { TSchema } from "@sinclair/typebox"

/**
 * Creates a function that returns the OpenAPI documentation of a route, for its `detail`. `body` is the schema of a request body that
 * the handler validates itself.
 */
export const operationsOf = (tag: string) => (summary: string, body?: TSchema) => ({
  summary,
  tags: [tag],
  ...(body && { requestBody: { required: true, content: { "application/json": { schema: body } } } }),
})

/** Documents error codes that do not follow from the form of a route. */
export const failures = (...codes: readonly string[]): object => ({ "x-failures": codes })

/** Documents the messages that webhooks receive, by event. The function is called once all plugins are set up. */
export const webhookMessages = (messages: () => Readonly<Record<string, { title: string; schema: TSchema }>>): object => ({
  "x-webhooks": messages,
})

/** Documents an example request and its response, which the reference of the public API shows for every operation. */
export const examples = (bodies: { request?: unknown; response: unknown }): object => ({ "x-examples": bodies })
