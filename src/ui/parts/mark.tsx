/** The product's logo. */
export const Mark = () => (
  <svg viewBox="0 0 16 16" aria-hidden="true" focusable="false" width="24" height="24">
    <rect width="16" height="16" rx="3" fill="var(--accent)" />
    <path d="M3.5 12.5h2v-3h-2zm3.5 0h2v-6H7zm3.5 0h2v-9h-2z" fill="var(--on-accent)" />
  </svg>
)
