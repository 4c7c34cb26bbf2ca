/** Takes messages in: idempotency, access, storing, delivery to the loop. Knows nothing of HTTP or of Temporal. */
export { Admission, type AdmissionDeps } from './admission.ts';
