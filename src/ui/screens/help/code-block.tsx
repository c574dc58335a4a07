import { CopyButton } from "../../parts/copy-button.tsx"

/** Text to copy into a page, a program or a terminal. */
export const CodeBlock = ({ text, label }: { text: string; label: string }) => (
  <div class="stack">
    <pre>{text}</pre>
    <div class="row">
      <CopyButton text={text} label={label} />
    </div>
  </div>
)
