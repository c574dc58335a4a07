import { createHash } from "node:crypto"
import type { OpenApiDocument } from "./document.ts"
import { clientSections } from "./page-clients.ts"
import { operationSection } from "./page-operation.ts"
import { schemaSection } from "./page-schema.ts"
import { PAGE_STYLE } from "./page-style.ts"
import { escapeHtml, prose } from "./page-text.ts"

const styleHash = createHash("sha256").update(PAGE_STYLE).digest("base64")

/** Content security policy of the page, which loads nothing: its style is inline and it has no script. */
export const PAGE_POLICY = `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

/** Renders the description of the API as one self-contained page. */
export function referencePage(document: OpenApiDocument): string {
  const { info, tags, components } = document
  const groups = tags.map(({ name, description }) => ({ name, description, operations: operationsOf(document, name) }))
  const schemas = Object.entries(components.schemas)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(info.title)}</title>
<style>${PAGE_STYLE}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the operations</a>
<header>
<h1>${escapeHtml(info.title)}</h1>
${prose(info.description)}
<p>Machine-readable version: <a href="openapi.json">openapi.json</a>, OpenAPI ${document.openapi}.</p>
</header>
<nav aria-label="Operations">
<h2>Getting started</h2><ul><li><a href="#scripts">For scripts and programs</a></li><li><a href="#assistants">For assistants</a></li></ul>
${groups.map(({ name, operations }) => `<h2>${name}</h2><ul>${operations.map(({ link }) => `<li>${link}</li>`).join("")}</ul>`).join("\n")}
<h2>Schemas</h2><ul>${schemas.map(([name]) => `<li><a href="#schema-${name}">${name}</a></li>`).join("")}</ul>
</nav>
<main id="main">
${clientSections(document.servers[0]?.url ?? "/")}
${groups.map(({ name, description, operations }) => `<section aria-labelledby="tag-${name}"><h2 id="tag-${name}">${name}</h2>${prose(description)}${operations.map(({ section }) => section).join("\n")}</section>`).join("\n")}
<section aria-labelledby="schemas"><h2 id="schemas">Schemas</h2>${schemas.map(([name, schema]) => schemaSection(name, schema)).join("\n")}</section>
</main>
</body>
</html>
`
}

/** Renders the operations of a tag, each with its link for the navigation. */
function operationsOf(document: OpenApiDocument, tag: string): { link: string; section: string }[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => operation.tags.includes(tag))
      .map(([method, operation]) => ({
        link: `<a href="#${operation.operationId}">${escapeHtml(operation.summary)}</a>`,
        section: operationSection(document, { method, path, operation }),
      })),
  )
}
