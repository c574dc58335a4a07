import { useState } from "preact/hooks"
import { post } from "../api.ts"
import type { Me } from "../boot.ts"
import { useRefreshMe } from "../me.ts"
import { FactorForm, type FactorWanted, PasskeyForm, type SignedIn } from "../sign-in/factor-form.tsx"
import { canUsePasskeys } from "../sign-in/passkey.ts"
import { useWaysIn } from "../sign-in/ways-in.ts"
import { PasswordForm } from "./password-form.tsx"
import { ProviderLink, type SessionNow } from "./provider-link.tsx"

/** Every way in that the account has, without leaving the page. */
export function SignInAgain({ me: { user }, onDone }: { me: Me; onDone(): void }) {
  const [wanted, setWanted] = useState<FactorWanted>()
  const providers = useWaysIn(user.email).data?.data ?? []
  // A passkey may be of somebody else, whose page this is not.
  const entered = (signedIn: SignedIn) => (signedIn.user.id === user.id ? onDone() : location.assign("/"))
  if (wanted) return <FactorForm wanted={wanted} onDone={entered} />
  const byPassword = async (password: string) => {
    const answer = await post<SignedIn | FactorWanted>("/api/private/auth/login", { email: user.email, password }, { isSignIn: true })
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

/** The one way that an organization leaves; the session that is open until then does not count. */
export function SignInByProvider({ me: { user }, onDone }: { me: Me; onDone(): void }) {
  const ways = useWaysIn(user.email).data
  const refreshMe = useRefreshMe()
  /** What the session of before could not do is open now. */
  const entered = async (session: SessionNow) => {
    if (session.user.id !== user.id) return location.assign("/")
    await refreshMe()
    onDone()
  }
  if (ways?.data.length === 0) return <p>No identity provider is for {user.email}: ask an owner of the organization.</p>
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
