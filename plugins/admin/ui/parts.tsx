import type { ComponentChildren } from "preact"

/** A section of a page with its own heading. */
export const Part = ({ title, children }: { title: string; children: ComponentChildren }) => (
  <section class="stack">
    <h2>{title}</h2>
    {children}
  </section>
)

export const withAny = (values: readonly string[], any = "Any"): { value: string; label: string }[] => [
  { value: "", label: any },
  ...values.map((value) => ({ value, label: sentenceCase(value) })),
]

const ABBREVIATIONS = /\b(api|cors|gpc|hsts|http|id|mcp|oidc|s3|smtp|sso|tls|url|wal)\b/g

/** Turns a code into words: `read_only` becomes Read only, `base_url` becomes Base URL. */
export const sentenceCase = (code: string): string => {
  const words = code.replaceAll(/[_-]/g, " ").replace(ABBREVIATIONS, (word) => word.toUpperCase())
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** Roles in an organization, highest first. */
export const ROLES = ["owner", "admin", "editor", "viewer", "guest"] as const
