// Two OpenID Connect providers for the tests, which print their issuers. Each has a key of its own.
//
// A test adds two parameters to the address to which the application sends the browser: `claims`, which its user's ID
// token has, and `forge`, how the token is changed after it has been signed.
import { OAuth2Server } from 'oauth2-mock-server';

const encode = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');

const forgers = {
    // The claims of another user, with the signature of the first.
    claims: ([header, payload, signature]) => {
        const claims = JSON.parse(Buffer.from(payload, 'base64url'));
        return [header, encode({ ...claims, sub: 'root' }), signature];
    },
    unsigned: ([, payload]) => [encode({ alg: 'none', typ: 'JWT' }), payload, ''],
};

for (let count = 0; count < 2; count += 1) {
    const server = new OAuth2Server();
    await server.issuer.keys.generate('RS256');
    await server.start(0, '127.0.0.1');
    server.issuer.url = `http://127.0.0.1:${server.address().port}`;
    const logins = new Map();
    server.service.on('beforeAuthorizeRedirect', ({ url }, { query }) => {
        logins.set(url.searchParams.get('code'), query);
    });
    server.service.on('beforeTokenSigning', ({ payload }, { body }) => {
        Object.assign(payload, JSON.parse(logins.get(body.code).claims));
    });
    server.service.on('beforeResponse', (response, { body, headers }) => {
        // The mock requires neither of them.
        const secret = `Basic ${Buffer.from('toposcope:a secret'.replace(' ', '+')).toString('base64')}`;
        if (headers.authorization !== secret || !body.code_verifier) {
            Object.assign(response, { statusCode: 401, body: { error: 'invalid_client' } });
            return;
        }
        const forge = forgers[logins.get(body.code).forge];
        logins.delete(body.code);
        if (forge) {
            response.body.id_token = forge(response.body.id_token.split('.')).join('.');
        }
    });
    console.log(server.issuer.url);
}

// The test that started this program holds the other end. When it is gone, so is this program.
process.stdin.resume();
process.stdin.on('end', () => process.exit());
