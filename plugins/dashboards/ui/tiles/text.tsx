import { Markdown } from "./markdown.tsx"
import type { PanelProps } from "./panel.ts"

/** A text in Markdown. */
export default function TextPanel({ data }: PanelProps) {
  const { markdown } = data as { markdown: string } // the answer of this type of widget
  return <Markdown text={markdown} />
}
