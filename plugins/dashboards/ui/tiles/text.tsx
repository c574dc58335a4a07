import { lazy } from "preact/compat"
import { Markdown } from "./markdown.tsx"
import type { PanelProps } from "./panel.ts"

const Lexed = lazy(async () => {
  const { lexer } = await import("./markdown-lexer.ts")
  return { default: ({ text }: { text: string }) => <Markdown tokens={lexer(text, { gfm: true })} /> }
})

/** A text in Markdown. */
export function TextPanel({ data }: PanelProps) {
  const { markdown } = data as { markdown: string } // the answer of this type of widget
  return <Lexed text={markdown} />
}
