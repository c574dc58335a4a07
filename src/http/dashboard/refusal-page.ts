import type { AppError } from "../../domain/error.ts"
import { problem } from "../errors.ts"

/**
 * A refusal for somebody who typed an address: the words of the problem, as a page. It loads nothing, because where it is
 * shown nothing else may answer: under a wrong host name, or while the service stops.
 */
export function refusalPage(failure: AppError, headers: Readonly<Record<string, string>>): Response {
  const { status, headers: own } = problem(failure, "", headers)
  own.set("content-type", "text/html; charset=utf-8")
  return new Response(PAGE.replace("TEXT", Bun.escapeHTML(failure.message)), { status, headers: own })
}

const PAGE = `<!doctype html>
<html lang="en">
  <head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Footfall</title></head>
  <body><main><h1>This page cannot be shown</h1><p>TEXT</p></main></body>
</html>
`
