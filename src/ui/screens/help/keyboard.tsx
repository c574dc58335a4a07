import { Link } from "wouter"
import { KeyList } from "../../shell/key-help.tsx"

export const Keyboard = () => (
  <>
    <p>
      Single letters work on the pages of a site while nothing is typed and no dialog is open. Keys with Ctrl, Alt or ⌘ belong to the
      browser. They can be switched off in the <Link href="/account/preferences">preferences</Link>.
    </p>
    <KeyList />
  </>
)
