import type { OpenApiDocument } from "./document.ts"
export const PAGE_POLICY = "default-src 'none'"
export const referencePage = (document: OpenApiDocument): string => document.info.title
