import { Link } from "wouter"
import { KeyList } from "../../shell/key-help.tsx"

export const Keyboard = () => (
  <>
    <p>
      Shortcuts are single letters. They work on a site's pages while you aren't typing and no dialog is open. You can turn them off in your{" "}
      <Link href="/account/preferences">preferences</Link>.
    </p>
    <KeyList />
  </>
)
