import { useState } from "preact/hooks"
import { post } from "../api/api.ts"
import { type Me, useRefreshMe } from "../api/session.ts"
import { FactorForm, type FactorRequired, PasskeyForm, type SignedIn } from "../sign-in/factor-form.tsx"
import { canUsePasskeys } from "../sign-in/passkey.ts"
import { useSignInMethods } from "../sign-in/ways-in.ts"
import { PasswordForm } from "./password-form.tsx"
import { ProviderLink, type SessionNow } from "./provider-link.tsx"

/** Offers every sign-in method of the account without leaving the page. */
export function SignInAgain({ me: { user }, onDone }: { me: Me; onDone(): void }) {
  const [wanted, setWanted] = useState<FactorRequired>()
  const providers = useSignInMethods(user.email).data?.data ?? []
  // A passkey may belong to another user. Then the page is loaded again for that user.
  const entered = (signedIn: SignedIn) => (signedIn.user.id === user.id ? onDone() : location.assign("/"))
  if (wanted) return <FactorForm wanted={wanted} onDone={entered} />
  const byPassword = async (password: string) => {
    const answer = await post<SignedIn | FactorRequired>("/api/private/auth/login", { email: user.email, password }, { isSignIn: true })
    if ("mfa_required" in answer) setWanted(answer)
    else entered(answer)
  }
  return (
    <>
      <PasswordForm email={user.email} act="Sign in" onPassword={byPassword} />
      {user.mfa.passkeys > 0 && canUsePasskeys() && <PasskeyForm onDone={entered} />}
      {providers.map((provider) => (
        <ProviderLink key={provider.id} provider={provider} asked={{}} isDone={() => true} onDone={entered} />
      ))}
    </>
  )
}

/** Offers single sign-on only. The session that is open until then doesn't satisfy the organization's policy. */
export function SignInByProvider({ me: { user }, onDone }: { me: Me; onDone(): void }) {
  const ways = useSignInMethods(user.email).data
  const refreshMe = useRefreshMe()
  // Permissions are read again, because the new session may do more.
  const entered = async (session: SessionNow) => {
    if (session.user.id !== user.id) return location.assign("/")
    await refreshMe()
    onDone()
  }
  if (ways?.data.length === 0) return <p>No identity provider is set up for {user.email}. Ask an owner of the organization to add one.</p>
  return (
    <>
      {ways?.data.map((provider) => (
        <ProviderLink
          key={provider.id}
          provider={provider}
          asked={{}}
          isDone={(session) => session.provider === provider.id}
          onDone={(session) => void entered(session)}
        />
      ))}
    </>
  )
}
