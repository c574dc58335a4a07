import { CopyButton } from "../../parts/copy.tsx"

/** Renders code with a copy button. */
export const CodeBlock = ({ text, label }: { text: string; label: string }) => (
  <div class="stack">
    <pre>{text}</pre>
    <div class="row">
      <CopyButton text={text} label={label} />
    </div>
  </div>
)
