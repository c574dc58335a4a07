import { AppError } from "../../../domain/error.ts"
import { API } from "../../../domain/limits.ts"
import { type Read, readBytes, readJsonAsSent, type SentJson } from "../../../web/body.ts"
import type { Content, Detail } from "../../openapi/route.ts"
import { takes } from "../requests.ts"

const FORMS = ["multipart/form-data", "application/x-www-form-urlencoded"]

/**
 * Reads a body as Plausible's clients send it: a form, or JSON. A missing body has no fields. The fields of a form are text, and a
 * repeated one or a file is refused.
 */
export const readForm: Read = async (request, contentType): Promise<SentJson> => {
  if (request.body === null || request.headers.get("content-length") === "0") return { value: {}, bytes: new Uint8Array() }
  if (contentType === undefined || !FORMS.includes(contentType)) return readJsonAsSent(API.bodyBytes)(request, contentType)
  const bytes = await readBytes(request, API.bodyBytes)
  const fields = [...(await formOf(bytes, request.headers.get("content-type")!))]
  const value = Object.fromEntries(fields)
  const isPlain = fields.length === Object.keys(value).length && fields.every(([, text]) => typeof text === "string")
  if (!isPlain) throw new AppError("invalid_json", "The form has a repeated field or a file.")
  return { value, bytes }
}

async function formOf(bytes: Uint8Array, contentType: string): Promise<Iterable<[string, unknown]>> {
  try {
    return await new Response(new Uint8Array(bytes), { headers: { "content-type": contentType } }).formData()
  } catch {
    throw new AppError("invalid_json", "The body is not a valid form.")
  }
}

/** Documents a body that can be sent as JSON or as a form. */
export function takesForm(schema: Parameters<typeof takes>[0]): Pick<Detail, "requestBody"> {
  const { required, content } = takes(schema).requestBody!
  const forms: Content = Object.fromEntries(FORMS.map((type) => [type, { schema }]))
  return { requestBody: { required, content: { ...content, ...forms } } }
}
