import type { ComponentChildren } from "preact"

export { Facts, FilterRow, Moment, SearchField } from "#plugin/ui"

/** A part of a page under a heading of its own. */
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

const LETTERS = /\b(api|cors|gpc|hsts|http|id|mcp|oidc|s3|smtp|sso|tls|url|wal)\b/g

/** `read_only` as Read only, `base_url` as Base URL. */
export const sentenceCase = (word: string): string => {
  const words = word.replaceAll(/[_-]/g, " ").replace(LETTERS, (letters) => letters.toUpperCase())
  return words.charAt(0).toUpperCase() + words.slice(1)
}
