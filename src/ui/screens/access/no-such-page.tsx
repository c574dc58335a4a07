import { ButtonLink } from "../../parts/button.tsx"
import { AccessPage } from "./access-page.tsx"

/** The 404 page for visitors without an account. */
export default function NoSuchPage() {
  return (
    <AccessPage title="Page not found">
      <p>It doesn't exist. The link may be incomplete.</p>
      <p>
        <ButtonLink href="/signin">Sign in</ButtonLink>
      </p>
    </AccessPage>
  )
}
