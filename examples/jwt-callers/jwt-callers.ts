import { Module } from '@nestjs/common';
import { errors, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { defineExtension, type TokenVerifier } from 'pet-store-service';

export interface JwtCallersOptions {
  /** The `iss` claim of the identity provider. */
  issuer: string;
  /** The `aud` claim that identifies this service. */
  audience: string;
  /** Usually `createRemoteJWKSet(new URL('https://id.example.com/.well-known/jwks.json'))`. */
  keys: JWTVerifyGetKey;
}

interface Claims {
  client_id?: unknown;
  /** Separated by spaces (RFC 9068). */
  scope?: unknown;
  plan?: 'free' | 'pro' | 'business';
}

/** Errors of the provider rather than of the token. */
const PROVIDER_FAILURES = ['ERR_JOSE_GENERIC', 'ERR_JWKS_TIMEOUT', 'ERR_JWKS_INVALID'];

function verifierOf({ issuer, audience, keys }: JwtCallersOptions): TokenVerifier {
  return {
    async verify(token) {
      try {
        const { payload } = await jwtVerify<Claims>(token, keys, {
          issuer,
          audience,
          algorithms: ['ES256', 'EdDSA', 'RS256'],
          requiredClaims: ['sub', 'exp'],
        });
        const { plan = 'free', scope = '', exp } = payload;
        const clientId = payload.client_id ?? payload.sub;
        if (typeof clientId !== 'string' || typeof scope !== 'string') return undefined;
        return { clientId, scopes: scope.match(/\S+/g) ?? [], plan, expiresAt: exp! };
      } catch (error) {
        const isToken =
          error instanceof errors.JOSEError && !PROVIDER_FAILURES.includes(error.code);
        if (isToken) return undefined;
        throw error;
      }
    },
  };
}

@Module({})
class JwtCallersModule {}

/** Accepts JWTs of an identity provider. The `plan` claim selects the quota. */
export const jwtCallers = (options: JwtCallersOptions) =>
  defineExtension({
    name: 'jwt-callers',
    compatibility: '^1.0.0',
    module: JwtCallersModule,
    verifier: verifierOf(options),
    from: import.meta.url,
  });
